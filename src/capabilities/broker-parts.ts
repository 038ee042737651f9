/** The parts a broker is made of, as they know each other; each has a file of its own. */
import type { CapabilityCaller, CapabilityDefinition } from "./capability.ts";
import type { AuditEntry, ProviderStatus } from "./capability-broker.ts";
import type { CapabilityFault } from "./capability-fault.ts";
import type {
  CapabilityProvider,
  ProviderAccount,
  ProviderContext,
  ProviderVault,
} from "./capability-provider.ts";
import type { BridgeTokens } from "./tokens/bridge-tokens.ts";

/** A provider of the config, of a preset or of the embedding program, before it was asked what it offers. */
export interface WiredProvider
  extends Pick<ProviderStatus, "name" | "namespace" | "kind" | "origin" | "command"> {
  /** Absent where the config is at fault. */
  readonly provider?: CapabilityProvider;
  readonly fault?: CapabilityFault;
  /** How long one call may take, by the config. Default: 30 seconds. */
  readonly timeoutMs?: number;
  /** Whose key the provider's process was given. Absent: nobody checks its tokens, as in this process. */
  readonly tokens?: BridgeTokens;
}

/** Definitions of all providers that answered; asked once, when the first caller comes. */
export interface CapabilityRegistry {
  find(id: string): Promise<RegisteredCapability | undefined>;
  /** Sorted by id. */
  all(): Promise<readonly RegisteredCapability[]>;
  /** Of all, or of those with one namespace: the others are not asked. */
  statuses(namespace?: string): Promise<readonly ProviderStatus[]>;
  close(): Promise<void>;
}

export interface RegisteredCapability {
  readonly definition: CapabilityDefinition;
  readonly provider: CapabilityProvider;
  /** For one call of the provider. */
  readonly timeoutMs: number;
}

/** What a user has linked; kept on disk, apart for each user. */
export interface AccountStore {
  list(userId: string, capability: string): Promise<readonly ProviderAccount[]>;
  put(userId: string, capability: string, account: ProviderAccount): Promise<void>;
  remove(userId: string, capability: string, accountRef: string): Promise<boolean>;
}

export interface Vault {
  /** What one provider keeps for one user. */
  open(namespace: string, userId: string): ProviderVault;
}

/** For each call: who asks, and what the provider may use for them. */
export type MakeContext = (
  namespace: string,
  caller: CapabilityCaller,
  signal?: AbortSignal,
) => ProviderContext;

export interface AuditLog {
  /**
   * Written before it returns, and flushed for what changes something. Throws when it cannot be: what is not recorded is
   * not done.
   */
  write(entry: AuditEntry): void;
}
