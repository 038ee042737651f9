/**
 * Linking an account by device code. The code that fetches the tokens stays in the vault: the broker gets a reference that
 * opens it for this user, once. Tokens stay there, too.
 */
import type { JsonObject } from "../capabilities/capability.ts";
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import type { AuthPoll, BegunAuth, ProviderVault } from "../capabilities/capability-provider.ts";
import type { AuthorizationClient, TokenAnswer } from "./authorization/device-client.ts";
import { type LinkedAccounts, linkedDesk } from "./linked-accounts.ts";

export interface SignInParts {
  readonly client: AuthorizationClient;
  readonly accounts: LinkedAccounts;
  readonly vault: ProviderVault;
  readonly signal: AbortSignal;
  readonly now: number;
}

interface Flow {
  readonly deviceCode: string;
  readonly intervalSeconds: number;
  readonly endsAt: number;
}

/** RFC 8628, 3.5: so much longer after a poll that came too early. */
const SLOW_DOWN_SECONDS = 5;

export async function beginSignIn({ client, vault, signal, now }: SignInParts): Promise<Answer<BegunAuth>> {
  const begun = await client.requestDeviceCode(signal);
  if (!begun.ok) return begun;
  const { deviceCode, userCode, url, expiresInSeconds, intervalSeconds } = begun.value;
  const endsAt = now + expiresInSeconds * 1000;
  const flow = await vault.put({ deviceCode, intervalSeconds, endsAt });
  return done({
    authUrl: url,
    flowType: "device_code",
    expiresAt: new Date(endsAt).toISOString(),
    flowState: { flow },
    userCode,
    pollIntervalSeconds: intervalSeconds,
  });
}

export async function pollSignIn(flowState: JsonObject, parts: SignInParts): Promise<Answer<AuthPoll>> {
  const { client, accounts, vault, signal, now } = parts;
  const ref = typeof flowState.flow === "string" ? flowState.flow : "";
  const flow = (await vault.get(ref)) as Flow | undefined;
  if (!flow)
    return refuse(
      "capability_auth_flow_invalid",
      "There is no such sign-in, or it was used already.",
      BEGIN_AGAIN,
    );
  if (now >= flow.endsAt) return endFlow(ref, vault, expired(NOT_IN_TIME));
  const polled = await client.pollTokens(flow.deviceCode, signal);
  if (!polled.ok) return polled;
  if (polled.value.state === "refused") return readRefusal(polled.value.error, ref, flow, vault);
  const { tokens } = polled.value;
  const { accountRef, vaultRef } = await accounts.link(linkedDesk(tokens, now));
  await vault.delete(ref);
  const { name, email } = tokens.account;
  return done({
    status: "complete",
    account: {
      accountRef,
      credentialMaterial: { vault_ref: vaultRef },
      metadata: { account_name: name, account_email: email },
    },
  });
}

const BEGIN_AGAIN = { hint: "Begin a new one with `auth begin`." };
const NOT_IN_TIME = "The sign-in was not approved in time.";
const NOT_KNOWN = "The authorization server of the desk does not know this sign-in any more.";

function expired(message: string): Answer<never> {
  return refuse("capability_auth_flow_expired", message, BEGIN_AGAIN);
}

type Refusal = Extract<TokenAnswer, { readonly state: "refused" }>["error"];

async function readRefusal(
  error: Refusal,
  ref: string,
  flow: Flow,
  vault: ProviderVault,
): Promise<Answer<AuthPoll>> {
  if (error === "authorization_pending")
    return done({ status: "pending", retryAfterSeconds: flow.intervalSeconds });
  if (error === "slow_down") {
    const intervalSeconds = flow.intervalSeconds + SLOW_DOWN_SECONDS;
    await vault.replace(ref, { ...flow, intervalSeconds });
    return done({ status: "pending", retryAfterSeconds: intervalSeconds });
  }
  if (error === "expired_token") return endFlow(ref, vault, expired(NOT_IN_TIME));
  if (error === "invalid_grant") return endFlow(ref, vault, expired(NOT_KNOWN));
  const what =
    error === "access_denied" ? "The user said no to the sign-in." : `The sign-in was refused (${error}).`;
  return endFlow(ref, vault, refuse("capability_auth_flow_denied", what, BEGIN_AGAIN));
}

async function endFlow(ref: string, vault: ProviderVault, answer: Answer<never>): Promise<Answer<never>> {
  await vault.delete(ref);
  return answer;
}
