/** Puts a broker together from its parts. Nothing is started, read or written before the first caller comes. */
import { join } from "node:path";
import type { Places } from "../host/places.ts";
import { openAccounts } from "./accounts.ts";
import { openAuditLog } from "./audit-log.ts";
import { createAuth } from "./auth/create-auth.ts";
import { openFlows } from "./auth/flow-store.ts";
import type { MakeContext, Vault, WiredProvider } from "./broker-parts.ts";
import type { CapabilityBroker } from "./capability-broker.ts";
import { checkDeclared } from "./find-capability.ts";
import { openJournal } from "./idempotency-journal.ts";
import { invokeOperation } from "./invoke-operation.ts";
import { listCapabilities } from "./list-capabilities.ts";
import { createMutationPlans } from "./mutation-plans.ts";
import { createRegistry } from "./provider-registry.ts";
import { createRateLimits } from "./rate-limits.ts";
import { type BridgeTokens, createBridgeTokens } from "./tokens/bridge-tokens.ts";
import { openVault } from "./vault/open-vault.ts";

export interface BrokerInput {
  /** With `tokens` for each that runs in another process. */
  readonly providers: readonly WiredProvider[];
  readonly places: Pick<Places, "base" | "state">;
  /** Default: `<base>/vault`, with its key in a file. */
  readonly vault?: Vault;
  /** Calls a minute, of one user to one capability. Default: 60. */
  readonly rateLimit?: number;
  /** How long a sign-in may take, unless its provider says. Default: 1800; at least 30. */
  readonly flowTtlSeconds?: number;
  readonly now?: () => number;
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
    list: (caller, options) => listCapabilities(parts, caller, options),
    preflight: (ids, caller) => checkDeclared(registry, ids, caller),
    invoke: (caller, request, options) => invokeOperation(parts, caller, request, options),
    auth: createAuth({ registry, accounts, flows, makeContext, audit, limits, now, flowTtlSeconds }),
    providers: () => registry.statuses(),
    close: () => registry.close(),
  };
}

/** A provider sees one user at a time, and of the vault only what is its own. */
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
    vault: vault.open(namespace, caller.userId),
    signal,
  });
}
