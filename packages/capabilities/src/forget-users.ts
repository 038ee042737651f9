/**
 * Deletes what this machine stores for users, and removes their identity from the audit log. Each step can safely be
 * repeated; the log comes last because it says where to look.
 */
import type { RateLimits } from "./access.ts";
import type { AccountStore, LinkedTo } from "./accounts.ts";
import type { AuditLog } from "./audit.ts";
import type { AuthParts } from "./auth/auth-act.ts";
import { releaseAccount } from "./auth/release-account.ts";
import type { ForgottenUsers } from "./capability-broker.ts";
import type { MutationPlans } from "./confirm-change.ts";
import type { IdempotencyJournal } from "./journal.ts";
import type { Vault } from "./vault/open-vault.ts";

interface ForgetParts extends Pick<AuthParts, "registry" | "makeContext" | "flows"> {
  readonly accounts: AccountStore;
  readonly audit: AuditLog;
  readonly journal: IdempotencyJournal;
  readonly limits: RateLimits;
  readonly plans: MutationPlans;
  readonly vault: Vault;
  /** From the providers configured now. */
  readonly namespaces: readonly string[];
}

type IsMeant = (userId: string) => boolean;

export async function forgetUsers(parts: ForgetParts, users: ForgottenUsers): Promise<void> {
  const isMeant: IsMeant =
    "userId" in users ? (id) => id === users.userId : (id) => id.startsWith(users.prefix);
  const linked = parts.accounts.listAll().filter(({ userId }) => isMeant(userId));
  const met = findMet(parts, linked, isMeant);
  if ("userId" in users && !met.has(users.userId)) met.set(users.userId, new Set());
  await tellProviders(parts, linked);
  for (const [userId, namespaces] of met) {
    for (const namespace of new Set([...namespaces, ...parts.namespaces]))
      parts.vault.clear(namespace, userId);
    parts.flows.forget(userId);
    parts.accounts.forget(userId);
    parts.journal.forget(userId);
  }
  parts.limits.forget(isMeant);
  parts.plans.forget(isMeant);
  parts.audit.forget(isMeant);
}

/**
 * The users, each with the namespaces of providers that may have stored something. Folder names are digests, so they
 * cannot tell.
 */
function findMet(
  { audit, flows }: ForgetParts,
  linked: readonly LinkedTo[],
  isMeant: IsMeant,
): Map<string, Set<string>> {
  const met = new Map<string, Set<string>>();
  const meet = (userId: string, capability: string): void => {
    if (!isMeant(userId)) return;
    const namespaces = met.get(userId) ?? new Set();
    met.set(userId, namespaces.add(namespaceOf(capability)));
  };
  for (const { userId, capability } of [...linked, ...flows.listAll()]) meet(userId, capability);
  audit.each(({ user, capability }) => meet(user, capability));
  return met;
}

/** A provider may have more to do, such as revoking; whatever it answers, the account is removed. */
async function tellProviders(parts: ForgetParts, linked: readonly LinkedTo[]): Promise<void> {
  await Promise.all(
    linked.map(({ userId, capability, account }) => releaseAccount(parts, { userId }, capability, account)),
  );
}

function namespaceOf(capability: string): string {
  return capability.slice(0, Math.max(0, capability.indexOf(".")));
}
