/**
 * Assembles a broker, and lists what a caller may use. Nothing is started, read or written before the first caller
 * comes.
 */
import { join } from "node:path";
import { presentFields } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { chatTypesOf, checkDeclared, createRateLimits, isDeclared, isVisibleTo } from "./access.ts";
import { type AccountStore, openAccounts } from "./accounts.ts";
import { openAuditLog } from "./audit.ts";
import { createAuth } from "./auth/create-auth.ts";
import { openFlows } from "./auth/flow-store.ts";
import type { MakeContext } from "./call-provider.ts";
import type { CapabilityCaller, CapabilityListing } from "./capability.ts";
import type { CapabilityBroker } from "./capability-broker.ts";
import { createMutationPlans } from "./confirm-change.ts";
import { forgetUsers } from "./forget-users.ts";
import { invokeOperation } from "./invoke-operation.ts";
import { openJournal } from "./journal.ts";
import {
  type CapabilityRegistry,
  createRegistry,
  type RegisteredCapability,
  type WiredProvider,
} from "./provider-registry.ts";
import { type BridgeTokens, createBridgeTokens } from "./tokens/caller-tokens.ts";
import { openVault, type Vault } from "./vault/open-vault.ts";

export interface BrokerInput {
  /** With `tokens` for each provider in another process. */
  readonly providers: readonly WiredProvider[];
  readonly places: Pick<Places, "base" | "state">;
  /** Default: `<base>/vault`, with its key in a file. */
  readonly vault?: Vault | undefined;
  /** Calls per minute of one user to one capability. Default: 60. */
  readonly rateLimit?: number | undefined;
  /** How long a sign-in may take if its provider does not say. Default: 1800; at least 30. */
  readonly flowTtlSeconds?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const DEFAULT_RATE_LIMIT = 60;

export function createBroker({
  providers,
  places,
  vault = openVault({ folder: join(places.base, "vault") }),
  rateLimit = DEFAULT_RATE_LIMIT,
  flowTtlSeconds,
  now = Date.now,
}: BrokerInput): CapabilityBroker {
  const folder = join(places.state, "capabilities");
  const registry = createRegistry(providers, { now });
  const accounts = openAccounts({ folder: join(folder, "accounts") });
  const audit = openAuditLog({ file: join(folder, "audit.jsonl") });
  const makeContext = createContexts(providers, vault);
  const flows = openFlows({ folder: join(folder, "flows"), vault, now });
  const limits = createRateLimits({ perMinute: rateLimit, now });
  const namespaces = providers.map(({ namespace }) => namespace);
  const parts = {
    registry,
    accounts,
    makeContext,
    audit,
    now,
    limits,
    journal: openJournal({ folder: join(folder, "journal"), now }),
    plans: createMutationPlans(now),
  };
  return {
    list: (caller, options) => listCapabilities(registry, accounts, caller, options),
    preflight: (ids, caller) => checkDeclared(registry, ids, caller),
    invoke: (caller, request, options) => invokeOperation(parts, caller, request, options),
    auth: createAuth({ registry, accounts, flows, makeContext, audit, limits, now, flowTtlSeconds }),
    forget: (users) => forgetUsers({ ...parts, flows, vault, namespaces }, users),
    providers: () => registry.statuses(),
    close: () => registry.close(),
  };
}

/** A provider sees one user at a time, and only its own part of the vault. */
function createContexts(providers: readonly WiredProvider[], vault: Vault): MakeContext {
  const tokens = new Map<string, BridgeTokens>(
    providers.flatMap(({ namespace, tokens: own }) => (own ? [[namespace, own] as const] : [])),
  );
  const tokensOf = (namespace: string): BridgeTokens => {
    const own = tokens.get(namespace) ?? createBridgeTokens(namespace);
    tokens.set(namespace, own);
    return own;
  };
  return (namespace, caller, signal = new AbortController().signal) => ({
    caller,
    token: () => tokensOf(namespace).mint(caller),
    get vault() {
      return vault.open(namespace, caller.userId);
    },
    signal,
  });
}

/** `all` adds those that this chat forbids, but never what the run's skill does not declare. */
async function listCapabilities(
  registry: CapabilityRegistry,
  accounts: AccountStore,
  caller: CapabilityCaller,
  { all = false }: { readonly all?: boolean | undefined } = {},
): Promise<readonly CapabilityListing[]> {
  const capabilities = (await findAll(registry, caller)).filter(
    ({ definition }) => isVisibleTo(definition, caller) || (all && isDeclared(definition.id, caller)),
  );
  return Promise.all(capabilities.map((capability) => describeCapability(capability, accounts, caller)));
}

/** In a run, only what its skill declares: other providers are not asked, so they cannot delay it. */
async function findAll(
  registry: CapabilityRegistry,
  { declared }: CapabilityCaller,
): Promise<readonly RegisteredCapability[]> {
  if (declared === undefined) return registry.all();
  const ids = [...new Set(declared)].sort(compareText);
  const found = await Promise.all(ids.map((id) => registry.find(id)));
  return found.filter((capability) => capability !== undefined);
}

/** A chat that cannot use it learns nothing about the user's accounts. */
async function describeCapability(
  { definition }: RegisteredCapability,
  accounts: AccountStore,
  caller: CapabilityCaller,
): Promise<CapabilityListing> {
  const { id, description, sensitive, operations } = definition;
  const available = isVisibleTo(definition, caller);
  const linked = available ? await accounts.list(caller.userId, id) : [];
  return {
    id,
    description,
    sensitive,
    allowedChatTypes: chatTypesOf(definition),
    available,
    requiresAuth: operations.some(({ requiresAuth }) => requiresAuth),
    authenticated: linked.length > 0,
    // Without the provider's own data.
    linkedAccounts: linked.map(({ accountRef, accountName, accountEmail, createdAt }) =>
      presentFields({ accountRef, accountName, accountEmail, createdAt }),
    ),
    operations,
  };
}
