/**
 * A small authorization server on loopback: device codes (RFC 8628), a page to approve them, and tokens. It stands in
 * for the service that a real provider signs in to, and keeps everything in memory.
 */
import { randomBytes, randomInt } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { checkPasscode, findAccount } from "./accounts.ts";
import { CLIENT_ID } from "./sign-in.ts";

export interface SignInServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly root: string;
  /** 0: any free port. */
  readonly port: number;
  /** How long a code is valid. */
  readonly codeSeconds?: number;
}

interface Grant {
  readonly userCode: string;
  readonly endsAt: number;
  wrongPasscodes: number;
  /** The id of an account, or that the user said no. */
  decision?: { readonly account: string | undefined };
}

/** A page, or JSON. */
type Answer = readonly [status: number, body: string | object];
type Route = (form: URLSearchParams, request: IncomingMessage) => Answer;

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const MOST_GRANTS = 1000;
const MOST_WRONG_PASSCODES = 5;
const MAX_FORM_CHARACTERS = 10_000;

export async function startServer({ root, port, codeSeconds = 600 }: ServerOptions): Promise<SignInServer> {
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, string>();
  let url = "";

  const isOwn = (address: string): boolean => URL.parse(address)?.origin === url;

  const beginGrant = (): Answer => {
    for (const [code, { endsAt }] of grants) if (Date.now() > endsAt) grants.delete(code);
    if (grants.size >= MOST_GRANTS) return [503, { error: "temporarily_unavailable" }];
    const code = randomBytes(32).toString("base64url");
    const userCode = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    grants.set(code, { userCode, endsAt: Date.now() + codeSeconds * 1000, wrongPasscodes: 0 });
    const page = `${url}/device`;
    const pages = { verification_uri: page, verification_uri_complete: `${page}?user_code=${userCode}` };
    return [200, { device_code: code, user_code: userCode, ...pages, expires_in: codeSeconds, interval: 1 }];
  };

  /** What the user chose on the page. */
  const decide: Route = (form, { headers: { origin } }) => {
    if (origin !== undefined && !isOwn(origin)) return showPage(403, "", "Another site sent this form.");
    const userCode = (form.get("user_code") ?? "").trim().toUpperCase();
    const grant = [...grants.values()].find(
      (one) => one.userCode === userCode && one.decision === undefined && Date.now() < one.endsAt,
    );
    if (!grant) return showPage(400, userCode, "This code is unknown or has expired. Ask for a new one.");
    if (form.get("decision") !== "approve") {
      grant.decision = { account: undefined };
      return showPage(200, "", "Nothing was linked.");
    }
    const account = checkPasscode(root, form.get("account") ?? "", form.get("passcode") ?? "");
    if (account) {
      grant.decision = { account: account.id };
      return showPage(200, "", `${account.email} is linked. You can close this page.`);
    }
    grant.wrongPasscodes += 1;
    if (grant.wrongPasscodes >= MOST_WRONG_PASSCODES) grant.decision = { account: undefined };
    return showPage(403, userCode, "Account and passcode do not match.");
  };

  const giveToken: Route = (form) => {
    if (form.get("grant_type") !== DEVICE_GRANT) return [400, { error: "unsupported_grant_type" }];
    const code = form.get("device_code") ?? "";
    const grant = grants.get(code);
    if (!grant || Date.now() >= grant.endsAt) return [400, { error: "expired_token" }];
    if (!grant.decision) return [400, { error: "authorization_pending" }];
    grants.delete(code); // A code works once.
    const { account } = grant.decision;
    if (account === undefined) return [400, { error: "access_denied" }];
    const token = randomBytes(32).toString("base64url");
    tokens.set(token, account);
    return [200, { access_token: token, token_type: "Bearer" }];
  };

  const showAccount: Route = (_form, { headers: { authorization = "" } }) => {
    const account = findAccount(root, tokens.get(authorization.replace(/^Bearer /i, "")) ?? "");
    if (!account) return [401, { error: "invalid_token" }];
    return [200, { sub: account.id, name: account.name, email: account.email }];
  };

  const revoke: Route = (form) => {
    tokens.delete(form.get("token") ?? "");
    return [200, {}];
  };

  const forClient = (route: Route): Route => {
    return (form, request) =>
      form.get("client_id") === CLIENT_ID ? route(form, request) : [400, { error: "invalid_client" }];
  };

  const routes: ReadonlyMap<string, Route> = new Map([
    ["GET /device", (form) => showPage(200, form.get("user_code") ?? "")],
    ["POST /device", decide],
    ["GET /account", showAccount],
    ["POST /device_authorization", forClient(beginGrant)],
    ["POST /token", forClient(giveToken)],
    ["POST /revoke", forClient(revoke)],
  ]);

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    // A web site could point its own name at this address. It gets nothing that way.
    if (!isOwn(`http://${request.headers.host}`)) return [421, { error: "invalid_request" }];
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    const route = routes.get(`${request.method} ${pathname}`);
    if (!route) return [404, { error: "not_found" }];
    return route(request.method === "POST" ? await readForm(request) : searchParams, request);
  };

  const server = createServer({ requestTimeout: 10_000 }, async (request, response) => {
    // A damaged file, or a form that is too large: nobody outside learns which.
    const [status, body] = await answer(request).catch((): Answer => [500, { error: "server_error" }]);
    response.writeHead(status, {
      "content-type": typeof body === "string" ? "text/html; charset=utf-8" : "application/json",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
      ...(status === 401 && { "www-authenticate": 'Bearer error="invalid_token"' }),
    });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_FORM_CHARACTERS) throw new RangeError("The form is too large.");
  }
  return new URLSearchParams(text);
}

function showPage(status: number, userCode: string, notice = ""): Answer {
  const safe = (text: string): string => text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Link a desk account</title>
<h1>Link a desk account</h1><p role="status">${safe(notice)}</p>
<form method="post" autocomplete="off">
<p><label>Code <input name="user_code" value="${safe(userCode)}" required></label>
<p><label>Account <input name="account"></label>
<p><label>Passcode <input name="passcode" type="password"></label>
<p><button name="decision" value="approve">Link</button> <button name="decision" value="deny">Decline</button>
</form><p>Continue only if you started this sign-in and the code matches the one you were shown.</html>`;
  return [status, page];
}
