/** Deletes what was stored for an account that is no longer linked. */
import { answerWith, type CapabilityCaller, type ProviderAccount } from "../capability.ts";
import { isVaultRef } from "../vault/open-vault.ts";
import { type AuthParts, askSignIn } from "./auth-act.ts";

/** The provider may have more to do, such as revoking. It is told, and its answer changes nothing here. */
export async function releaseAccount(
  parts: Pick<AuthParts, "registry" | "makeContext">,
  caller: CapabilityCaller,
  capability: string,
  account: ProviderAccount,
): Promise<void> {
  const found = await parts.registry.find(capability);
  if (found?.provider.forget) {
    await askSignIn({ parts, caller }, found, async (provider, context) => {
      await provider.forget?.(account, context);
      return answerWith({});
    });
  }
  const namespace = capability.slice(0, capability.indexOf("."));
  const { vault } = parts.makeContext(namespace, caller);
  for (const ref of findRefs(account.credentialMaterial)) await vault.delete(ref);
}

function findRefs(value: unknown): readonly string[] {
  if (typeof value === "string") return isVaultRef(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(findRefs);
}
