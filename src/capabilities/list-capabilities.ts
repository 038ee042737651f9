/** What there is for a caller: capabilities, whether they can be used here, and which accounts are linked. */
import { compareText } from "../foundation/diagnostic.ts";
import type { AccountStore, CapabilityRegistry, RegisteredCapability } from "./broker-parts.ts";
import type { CapabilityCaller, CapabilityListing, LinkedAccount } from "./capability.ts";
import type { ProviderAccount } from "./capability-provider.ts";
import { chatTypesOf, isDeclared, isVisible } from "./visibility.ts";

export interface ListingParts {
  readonly registry: CapabilityRegistry;
  readonly accounts: AccountStore;
}

/** `all` adds those that this chat forbids; what the run's skill does not declare is shown to nobody in the run. */
export async function listCapabilities(
  { registry, accounts }: ListingParts,
  caller: CapabilityCaller,
  { all = false }: { readonly all?: boolean } = {},
): Promise<readonly CapabilityListing[]> {
  const capabilities = (await findAll(registry, caller)).filter(
    ({ definition }) => isVisible(definition, caller) || (all && isDeclared(definition.id, caller)),
  );
  return Promise.all(capabilities.map((capability) => describeCapability(capability, accounts, caller)));
}

/** In a run, what its skill declares: other providers are not asked, so none of them can keep it waiting. */
async function findAll(
  registry: CapabilityRegistry,
  { declared }: CapabilityCaller,
): Promise<readonly RegisteredCapability[]> {
  if (declared === undefined) return registry.all();
  const ids = [...new Set(declared)].sort(compareText);
  const found = await Promise.all(ids.map((id) => registry.find(id)));
  return found.filter((capability) => capability !== undefined);
}

/** A chat in which it cannot be used learns nothing about the user's accounts. */
async function describeCapability(
  { definition }: RegisteredCapability,
  accounts: AccountStore,
  caller: CapabilityCaller,
): Promise<CapabilityListing> {
  const { id, description, sensitive, operations } = definition;
  const available = isVisible(definition, caller);
  const linked = available ? await accounts.list(caller.userId, id) : [];
  return {
    id,
    description,
    sensitive,
    allowedChatTypes: chatTypesOf(definition),
    available,
    requiresAuth: operations.some(({ requiresAuth }) => requiresAuth),
    authenticated: linked.length > 0,
    linkedAccounts: linked.map(showAccount),
    operations,
  };
}

/** Without what belongs to the provider. */
function showAccount({ accountRef, accountName, accountEmail, createdAt }: ProviderAccount): LinkedAccount {
  return {
    accountRef,
    ...(accountName !== undefined && { accountName }),
    ...(accountEmail !== undefined && { accountEmail }),
    createdAt,
  };
}
