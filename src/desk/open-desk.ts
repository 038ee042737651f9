/** From a linked account to its files: only with a token that is good now, renewed if it has ended. */
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import type { AuthorizationClient } from "./authorization/device-client.ts";
import { type LinkedAccounts, type LinkedDesk, linkedDesk } from "./linked-accounts.ts";

export interface OpenDeskParts {
  readonly accounts: LinkedAccounts;
  readonly client: AuthorizationClient;
  readonly signal: AbortSignal;
  readonly now: number;
}

/** A token that ends while it is used is of no use. */
const LEEWAY_MS = 10_000;

export async function openAccount(
  accountRef: string | undefined,
  { accounts, client, signal, now }: OpenDeskParts,
): Promise<Answer<LinkedDesk["account"]>> {
  const linked = accountRef === undefined ? undefined : await accounts.find(accountRef);
  if (accountRef === undefined || !linked) return notLinked("No such account of the desk is linked.");
  if (linked.endsAt - LEEWAY_MS > now) return done(linked.account);
  const renewed = await client.renewTokens(linked.refreshToken, signal);
  if (!renewed.ok) return renewed;
  if (renewed.value.state === "tokens") {
    const { tokens } = renewed.value;
    if (tokens.account.id !== linked.account.id) return notLinked("The account is now another one.");
    await accounts.update(accountRef, linkedDesk(tokens, now));
    return done(tokens.account);
  }
  // Another process of this user may have been faster.
  const current = await accounts.find(accountRef);
  if (current && current.refreshToken !== linked.refreshToken && current.endsAt > now)
    return done(current.account);
  await accounts.unlink(accountRef);
  return notLinked("The account is no longer linked: its access was withdrawn, or has ended.");
}

function notLinked(message: string): ReturnType<typeof refuse> {
  return refuse("capability_auth_required", message, { hint: "Link it with `auth begin` and `auth poll`." });
}
