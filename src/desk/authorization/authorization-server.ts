/**
 * The authorization server of a desk, on loopback alone: device codes (RFC 8628), a page to approve them on, and tokens
 * that soon end and can be renewed (RFC 6749) or revoked (RFC 7009). The accounts are those of the desk's folder.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { checkPasscode, findAccount } from "../desk-accounts.ts";
import { renderApprovalPage } from "./approval-page.ts";
import { type AttemptLimit, createAttemptLimit } from "./attempt-limit.ts";
import { createDeviceGrants, type DeviceGrants } from "./device-grants.ts";
import { type HttpAnswer, html, json, oauthError, readForm, send } from "./http-answer.ts";
import { type IssuedTokens, openIssuedTokens } from "./issued-tokens.ts";
import { CLIENT_ID, DEFAULT_PORT, DEVICE_GRANT, PATHS } from "./protocol.ts";
import { writeServerAddress } from "./server-address.ts";

export interface AuthorizationServerOptions {
  /** The folder of the desk: its accounts. */
  readonly root: string;
  /** 0: any that is free. */
  readonly port?: number;
  /** How long an access token is good for. Default: 300. */
  readonly accessTokenSeconds?: number;
  /** How long a user has to approve. Default: 600. */
  readonly deviceCodeSeconds?: number;
  /** How often a client may ask. Default: 5. */
  readonly pollSeconds?: number;
  /** Milliseconds since 1970. */
  clock?(): number;
}

export interface AuthorizationServer {
  /** `http://127.0.0.1:8628` */
  readonly url: string;
  close(): Promise<void>;
}

interface Parts {
  readonly root: string;
  readonly accessTokenSeconds: number;
  readonly grants: DeviceGrants;
  readonly tokens: IssuedTokens;
  readonly attempts: AttemptLimit;
  url: string;
}

const REQUEST_TIMEOUT_MS = 10_000;

export async function startAuthorizationServer(
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> {
  const { root, port = DEFAULT_PORT, clock = Date.now } = options;
  const { accessTokenSeconds = 300, deviceCodeSeconds = 600, pollSeconds = 5 } = options;
  const parts: Parts = {
    root,
    accessTokenSeconds,
    grants: createDeviceGrants({ lifetimeSeconds: deviceCodeSeconds, intervalSeconds: pollSeconds, clock }),
    tokens: openIssuedTokens(root, clock),
    attempts: createAttemptLimit(clock),
    url: "",
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    answer(request, parts).then(
      (answered) => send(response, answered),
      () => send(response, oauthError("server_error", 500)), // A damaged file: nobody outside is told which.
    );
  });
  await listen(server, port);
  parts.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeServerAddress(root, parts.url);
  return { url: parts.url, close: () => closeServer(server) };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function answer(request: IncomingMessage, parts: Parts): Promise<HttpAnswer> {
  // A page of another site may lead its own name to this address; it is not answered by that name.
  if (!isOwnHost(request.headers.host, parts.url)) return oauthError("invalid_request", 421);
  const { pathname, searchParams } = new URL(request.url ?? "/", parts.url);
  if (request.method === "GET" && pathname === PATHS.approve)
    return html(200, renderApprovalPage({ userCode: searchParams.get("user_code") ?? "" }));
  if (request.method !== "POST") return oauthError("not_found", 404);
  const form = await readForm(request);
  if (!form) return oauthError("invalid_request");
  if (pathname === PATHS.approve) return decide(request, form, parts);
  if (form.get("client_id") !== CLIENT_ID) return oauthError("invalid_client", 401);
  if (pathname === PATHS.deviceAuthorization) return beginDevice(parts);
  if (pathname === PATHS.token) return giveTokens(form, parts);
  if (pathname === PATHS.revoke) return revoke(form, parts);
  return oauthError("not_found", 404);
}

function isOwnHost(host: string | undefined, url: string): boolean {
  const { port } = new URL(url);
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

function beginDevice({ grants, url }: Parts): HttpAnswer {
  const grant = grants.begin();
  if (!grant) return oauthError("temporarily_unavailable", 503);
  const page = `${url}${PATHS.approve}`;
  return json(200, {
    device_code: grant.deviceCode,
    user_code: grant.userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${grant.userCode}`,
    expires_in: grant.expiresInSeconds,
    interval: grant.intervalSeconds,
  });
}

/** What the user said on the page. */
function decide(request: IncomingMessage, form: URLSearchParams, parts: Parts): HttpAnswer {
  const { grants, attempts, root } = parts;
  const { origin } = request.headers;
  if (origin !== undefined && !isOwnHost(URL.parse(origin)?.host, parts.url))
    return html(403, renderApprovalPage({ notice: "This form was sent by another site.", isOver: true }));
  const userCode = form.get("user_code") ?? "";
  const account = form.get("account") ?? "";
  const refuse = (status: number, notice: string): HttpAnswer =>
    html(status, renderApprovalPage({ userCode, account, notice }));
  if (attempts.isBlocked("codes") || attempts.isBlocked(`account ${account}`))
    return refuse(429, "Too many wrong answers. Wait a minute, then try again.");
  if (!grants.isPending(userCode)) {
    attempts.noteWrong("codes");
    return refuse(400, "This code is not known, or no longer. Ask for a new one where you got it.");
  }
  if (form.get("decision") !== "approve") {
    grants.decide(userCode, undefined);
    return html(200, renderApprovalPage({ notice: "Nothing was linked.", isOver: true }));
  }
  const found = checkPasscode(root, account, form.get("passcode") ?? "");
  if (!found) {
    attempts.noteWrong(`account ${account}`);
    return refuse(403, "Account and passcode do not fit.");
  }
  attempts.noteRight(`account ${account}`);
  attempts.noteRight("codes");
  grants.decide(userCode, found);
  return html(200, renderApprovalPage({ notice: `The account ${found.email} is linked.`, isOver: true }));
}

function giveTokens(form: URLSearchParams, parts: Parts): HttpAnswer {
  const grantType = form.get("grant_type");
  if (grantType === DEVICE_GRANT) {
    const poll = parts.grants.poll(form.get("device_code") ?? "");
    if (poll.state !== "approved") return oauthError(poll.state);
    return tokenAnswer(poll.account.id, parts.tokens.issue(poll.account.id), parts);
  }
  if (grantType !== "refresh_token") return oauthError("unsupported_grant_type");
  const renewed = parts.tokens.renew(form.get("refresh_token") ?? "");
  return renewed ? tokenAnswer(renewed.account, renewed.refreshToken, parts) : oauthError("invalid_grant");
}

/** Which account it is, is a part of the answer: the client knows the folder by it. */
function tokenAnswer(id: string, refreshToken: string, { root, accessTokenSeconds }: Parts): HttpAnswer {
  const account = findAccount(root, id);
  if (!account) return oauthError("invalid_grant");
  return json(200, {
    access_token: randomBytes(32).toString("base64url"),
    token_type: "Bearer",
    expires_in: accessTokenSeconds,
    refresh_token: refreshToken,
    account,
  });
}

/** Answers alike whether there was such a token. */
function revoke(form: URLSearchParams, { tokens }: Parts): HttpAnswer {
  tokens.revoke(form.get("token") ?? "");
  return json(200, {});
}
