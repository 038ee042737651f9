/** The client's side of a sign-in: device codes, tokens, renewing and revoking them. What the server says is held to its form. */
import { isSecureUrl } from "../../capabilities/auth/secure-url.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import { isJsonObject } from "../../capabilities/json-object.ts";
import { type DeskAccount, isAccountId } from "../desk-accounts.ts";
import { ADDRESS_PATTERN } from "../mail/compose-message.ts";
import { CLIENT_ID, DEVICE_GRANT, PATHS } from "./protocol.ts";

export interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly url: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly account: DeskAccount;
}

export type TokenAnswer =
  | { readonly state: "tokens"; readonly tokens: Tokens }
  /** RFC 8628, 3.5, and RFC 6749, 5.2. */
  | { readonly state: "refused"; readonly error: string };

export interface AuthorizationClient {
  requestDeviceCode(signal: AbortSignal): Promise<Answer<DeviceCode>>;
  pollTokens(deviceCode: string, signal: AbortSignal): Promise<Answer<TokenAnswer>>;
  renewTokens(refreshToken: string, signal: AbortSignal): Promise<Answer<TokenAnswer>>;
  /** Best effort: a server that is away forgets the token in time. */
  revokeTokens(refreshToken: string, signal: AbortSignal): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64_000;
const ADDRESS = new RegExp(ADDRESS_PATTERN);
const ERROR = /^[a-z_]{1,60}$/;

/** `findServer`: its address, asked for at each request. */
export function createAuthorizationClient(findServer: () => string): AuthorizationClient {
  const post = (path: string, form: Readonly<Record<string, string>>, signal: AbortSignal) =>
    postForm(findServer(), path, { ...form, client_id: CLIENT_ID }, signal);
  const ask = async (
    form: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer<TokenAnswer>> => {
    const answer = await post(PATHS.token, form, signal);
    return answer.ok ? readTokenAnswer(answer.value) : answer;
  };
  return {
    async requestDeviceCode(signal) {
      const answer = await post(PATHS.deviceAuthorization, {}, signal);
      return answer.ok ? readDeviceCode(answer.value) : answer;
    },
    pollTokens: (deviceCode, signal) => ask({ grant_type: DEVICE_GRANT, device_code: deviceCode }, signal),
    renewTokens: (refreshToken, signal) =>
      ask({ grant_type: "refresh_token", refresh_token: refreshToken }, signal),
    async revokeTokens(refreshToken, signal) {
      await post(PATHS.revoke, { token: refreshToken }, signal);
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

async function postForm(
  server: string,
  path: string,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Answer<Fields>> {
  const url = URL.parse(path, server);
  if (!url || !isSecureUrl(url))
    return refuse(
      "capability_backend_unavailable",
      "`DESK_AUTH_SERVER` is no https address and not on loopback.",
    );
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const value: unknown = JSON.parse(await readBody(response));
    if (isJsonObject(value)) return done(value);
  } catch {
    // What failed may quote what was sent, so only that it failed is told.
    if (signal.aborted) return refuse("capability_cancelled", "The sign-in was given up.");
  }
  return refuse(
    "capability_backend_unavailable",
    `The authorization server of the desk at \`${url.origin}\` does not answer.`,
    {
      hint: "Start it with `metier-desk serve`, or set `DESK_AUTH_SERVER` to where it is.",
    },
  );
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new RangeError("The answer is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function readDeviceCode(fields: Fields): Answer<DeviceCode> {
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } =
    fields;
  const url = verification_uri_complete ?? verification_uri;
  if (!isText(device_code) || !isText(user_code) || !isText(url) || !isSeconds(expires_in)) return strange();
  const page = URL.parse(url);
  if (!page || !isSecureUrl(page)) return strange();
  return done({
    deviceCode: device_code,
    userCode: user_code,
    url,
    expiresInSeconds: expires_in,
    intervalSeconds: isSeconds(interval) ? interval : 5,
  });
}

function readTokenAnswer(fields: Fields): Answer<TokenAnswer> {
  const { error, access_token, refresh_token, expires_in, account } = fields;
  if (typeof error === "string" && ERROR.test(error)) return done({ state: "refused", error });
  const { id, name, email } = isJsonObject(account) ? account : {};
  const isRead =
    isText(access_token) &&
    isText(refresh_token) &&
    isSeconds(expires_in) &&
    isText(id) &&
    isAccountId(id) &&
    isText(name) &&
    isText(email) &&
    ADDRESS.test(email);
  if (!isRead) return strange();
  const tokens = {
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresInSeconds: expires_in,
    account: { id, name, email },
  };
  return done({ state: "tokens", tokens });
}

function strange(): Answer<never> {
  return refuse(
    "capability_backend_unavailable",
    "What answers in place of the authorization server of the desk is none.",
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length < 4_096;
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= 86_400;
}
