/** With which of the user's accounts an operation is performed. */
import { showNames, showValue } from "../validate/report.ts";
import type { CapabilityOperation } from "./capability.ts";
import { type Answer, done, refuse } from "./capability-fault.ts";
import type { ProviderAccount } from "./capability-provider.ts";

/** `wanted` is the reference, the name or the email of one. An operation that needs none gets one only if it is named. */
export function chooseAccount(
  capability: string,
  { requiresAuth }: Pick<CapabilityOperation, "requiresAuth">,
  linked: readonly ProviderAccount[],
  wanted?: string,
): Answer<ProviderAccount | undefined> {
  if (wanted === undefined && !requiresAuth) return done(undefined);
  const meant = wanted === undefined ? linked : findMeant(linked, wanted);
  const [account, ...others] = meant;
  if (others.length > 0) return ambiguous(capability, meant, wanted);
  if (account) return done(account);
  const message =
    wanted === undefined
      ? `No account is linked to \`${capability}\`.`
      : `No account ${showValue(wanted)} is linked to \`${capability}\`.`;
  return refuse("capability_auth_required", message, {
    hint: `Begin a sign-in for \`${capability}\` (\`capability auth begin\`); the user completes it.`,
  });
}

function findMeant(linked: readonly ProviderAccount[], wanted: string): readonly ProviderAccount[] {
  const exact = linked.filter(({ accountRef }) => accountRef === wanted);
  if (exact.length > 0) return exact;
  const text = fold(wanted);
  return linked.filter(({ accountName, accountEmail }) =>
    [accountName, accountEmail].some((name) => name !== undefined && fold(name) === text),
  );
}

function fold(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

function ambiguous(
  capability: string,
  accounts: readonly ProviderAccount[],
  wanted: string | undefined,
): Answer<never> {
  const which = wanted === undefined ? "are linked" : `are called ${showValue(wanted)} and linked`;
  const names = showNames(accounts.map(({ accountRef }) => accountRef));
  return refuse(
    "capability_account_ambiguous",
    `${accounts.length} accounts ${which} to \`${capability}\`, and it is not said which one is meant.`,
    { hint: `Name one by its reference: ${names}.` },
  );
}
