/**
 * Links an account by device code (RFC 8628), and later says whose account it is. Device codes and tokens stay in the
 * user's drawer; Metier gets references that mean nothing elsewhere.
 */
import { randomUUID } from "node:crypto";
import * as oauth from "oauth4webapi";
import { type Account, findAccount } from "./accounts.ts";
import type { Drawer } from "./drawer.ts";
import { Fault } from "./operation.ts";

export const CLIENT_ID = "desk-example";
export const DEFAULT_SERVER = "http://127.0.0.1:8628";

export interface SignIn {
  /** The answers to `auth_begin` and `auth_poll`. */
  begin(capability: string): Promise<object>;
  poll(capability: string, flow: string): Promise<object>;
  /** The account that is linked for a capability. */
  open(capability: string, accountRef: string): Promise<Account>;
  forget(capability: string, accountRef: string): Promise<void>;
}

interface PendingSignIn {
  readonly capability: string;
  readonly deviceCode: string;
  readonly intervalSeconds: number;
}

/** `url`: the sign-in server for the accounts in `root`. */
export function openSignIn(root: string, url: string, drawer: Drawer): SignIn {
  const server: oauth.AuthorizationServer = {
    issuer: url,
    device_authorization_endpoint: `${url}/device_authorization`,
    token_endpoint: `${url}/token`,
    userinfo_endpoint: `${url}/account`,
    revocation_endpoint: `${url}/revoke`,
  };
  const client: oauth.Client = { client_id: CLIENT_ID };
  const noSecret = oauth.None();
  // Plain HTTP is for this machine alone; any other server has to use HTTPS.
  const isLocal = ["127.0.0.1", "localhost"].includes(URL.parse(url)?.hostname ?? "");
  const options = { [oauth.allowInsecureRequests]: isLocal, signal: () => AbortSignal.timeout(10_000) };

  const readAccount = async (token: string): Promise<Account> => {
    const response = await oauth.userInfoRequest(server, client, token, options);
    const { sub } = await oauth.processUserInfoResponse(server, client, oauth.skipSubjectCheck, response);
    const account = findAccount(root, sub);
    if (!account) throw notLinked();
    return account;
  };

  return {
    async begin(capability) {
      const begun = await reach(url, async () => {
        const response = await oauth.deviceAuthorizationRequest(server, client, noSecret, {}, options);
        return oauth.processDeviceAuthorizationResponse(server, client, response);
      });
      const flow = randomUUID();
      const intervalSeconds = begun.interval ?? 5;
      const pending: PendingSignIn = { capability, deviceCode: begun.device_code, intervalSeconds };
      drawer.put(flow, pending);
      return {
        flow_type: "device_code",
        auth_url: begun.verification_uri_complete ?? begun.verification_uri,
        user_code: begun.user_code,
        expires_at: new Date(Date.now() + begun.expires_in * 1000).toISOString(),
        poll_interval_seconds: intervalSeconds,
        flow_state: { flow },
      };
    },

    async poll(capability, flow) {
      const pending = drawer.get<PendingSignIn>(flow);
      if (pending?.capability !== capability)
        throw new Fault("capability_auth_flow_invalid", "There is no such sign-in, or it was used already.");
      try {
        const { deviceCode } = pending;
        const token = await reach(url, async () => {
          const response = await oauth.deviceCodeGrantRequest(server, client, noSecret, deviceCode, options);
          return (await oauth.processDeviceCodeResponse(server, client, response)).access_token;
        });
        drawer.remove(flow);
        const { id, name, email } = await reach(url, () => readAccount(token));
        const accountRef = `desk_${id}`;
        drawer.put(linkName(capability, accountRef), { token });
        const metadata = { account_name: name, account_email: email };
        return { status: "complete", account_ref: accountRef, credential_material: { capability }, metadata };
      } catch (error) {
        if (!(error instanceof oauth.ResponseBodyError)) throw error;
        // Most polls end in one of these two errors: the user has not decided yet.
        const delay = new Map([
          ["authorization_pending", 0],
          ["slow_down", 5],
        ]).get(error.error);
        if (delay !== undefined)
          return { status: "pending", retry_after_seconds: pending.intervalSeconds + delay };
        drawer.remove(flow);
        throw error.error === "access_denied"
          ? new Fault("capability_auth_flow_denied", "The user declined the sign-in.")
          : new Fault("capability_auth_flow_expired", "The sign-in has expired. Start a new one.");
      }
    },

    async open(capability, accountRef) {
      const name = linkName(capability, accountRef);
      const link = drawer.get<{ readonly token: string }>(name);
      if (!link) throw notLinked();
      try {
        // Asked at every call, so withdrawn access ends at once.
        return await reach(url, () => readAccount(link.token));
      } catch (error) {
        if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
        drawer.remove(name);
        throw notLinked();
      }
    },

    async forget(capability, accountRef) {
      const name = linkName(capability, accountRef);
      const link = drawer.get<{ readonly token: string }>(name);
      drawer.remove(name);
      if (link)
        await reach(url, () => oauth.revocationRequest(server, client, noSecret, link.token, options));
    },
  };
}

function linkName(capability: string, accountRef: string): string {
  return `${capability} ${accountRef}`;
}

function notLinked(): Fault {
  return new Fault("capability_auth_required", "No account is linked, or access to it was withdrawn.");
}

/** Passes on the server's refusal; any other failure means that the server is unavailable. */
async function reach<Value>(url: string, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    const known = [Fault, oauth.ResponseBodyError, oauth.WWWAuthenticateChallengeError];
    if (known.some((kind) => error instanceof kind)) throw error;
    throw new Fault(
      "capability_backend_unavailable",
      `The sign-in server at ${url} does not answer. Start it with \`node desk.ts serve\`, or set DESK_SERVER.`,
    );
  }
}
