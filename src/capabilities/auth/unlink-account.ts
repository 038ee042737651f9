/**
 * Unlinks an account: it is no longer used from then on, and what the vault keeps for it is gone, whatever the provider
 * does. Works as well for a capability whose provider is no longer there.
 */
import { isCapabilityId } from "../../skill/capability-id.ts";
import { showValue } from "../../validate/report.ts";
import { type Answer, type CapabilityFault, done, refuse } from "../capability-fault.ts";
import type { ProviderAccount } from "../capability-provider.ts";
import { chooseAccount } from "../choose-account.ts";
import { isVaultRef } from "../vault/open-vault.ts";
import { checkVisible } from "../visibility.ts";
import { type Act, askProvider } from "./auth-parts.ts";

export interface UnlinkRequest {
  readonly capability: string;
  /** Needed where several are linked. */
  readonly account?: string;
}

export async function unlinkAccount(
  act: Act,
  { capability, account: wanted }: UnlinkRequest,
): Promise<Answer<{ readonly account: string }>> {
  const { parts, caller } = act;
  act.audit.know({ capability: isCapabilityId(capability) ? capability : "(invalid)" });
  const denied = await whyDenied(act, capability);
  if (denied) return { ok: false, fault: denied };
  const linked = await parts.accounts.list(caller.userId, capability);
  const meant =
    linked.length > 0 ? chooseAccount(capability, { requiresAuth: true }, linked, wanted) : undefined;
  if (meant?.ok === false) return meant;
  const account = meant?.value;
  if (account === undefined) {
    return refuse("capability_invalid_input", `No account is linked to ${showValue(capability)}.`, {
      hint: "There is nothing to unlink; `capability list` shows which accounts are linked.",
    });
  }
  const { accountRef } = account;
  act.audit.know({ account: accountRef });
  act.recordIntent();
  await parts.accounts.remove(caller.userId, capability, accountRef);
  await forget(act, capability, account);
  return done({ account: accountRef });
}

/** A run may only touch what its skill declares, also where nobody offers it any more. */
async function whyDenied({ parts, caller }: Act, capability: string): Promise<CapabilityFault | undefined> {
  const found = await parts.registry.find(capability);
  return checkVisible(found?.definition ?? { id: capability, sensitive: false }, caller);
}

/** The provider may have more to do, such as to revoke. It is told, and what it answers changes nothing here. */
async function forget(act: Act, capability: string, account: ProviderAccount): Promise<void> {
  const found = await act.parts.registry.find(capability);
  if (found?.provider.forget) {
    await askProvider(act, found, async (provider, context) => {
      await provider.forget?.(account, context);
      return done({});
    });
  }
  const namespace = capability.slice(0, capability.indexOf("."));
  const { vault } = act.parts.makeContext(namespace, act.caller);
  for (const ref of findRefs(account.credentialMaterial)) await vault.delete(ref);
}

function findRefs(value: unknown): readonly string[] {
  if (typeof value === "string") return isVaultRef(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(findRefs);
}
