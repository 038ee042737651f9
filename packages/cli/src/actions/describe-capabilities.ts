/**
 * The capabilities part of `doctor` and `show`: providers, the vault, and the accounts of this machine's user. Asks
 * all providers at once with a short limit, and names the slow ones.
 */
import type { Environment } from "@metier/base/programs";
import type {
  CapabilityBroker,
  CapabilityFault,
  LinkedAccount,
  ProviderStatus,
  VaultState,
} from "@metier/capabilities";
import { describeVault } from "@metier/capabilities/broker";
import { composeBroker, type Metier, offerCapabilities, vaultPlace, wireConfigured } from "@metier/runtime";
import { readCaller } from "../open-metier.ts";
import { accountText } from "../output/capabilities-text.ts";

interface CapabilityReport {
  readonly providers: readonly ProviderStatus[];
  readonly vault: VaultState;
  /** Accounts of this machine's user. */
  readonly accounts: readonly (LinkedAccount & { readonly capability: string })[];
  /** Why accounts are unknown. */
  readonly fault?: CapabilityFault;
}

/** How long a provider may take to list its capabilities. */
const PATIENCE_MS = 5_000;

export async function describeCapabilities(
  { config, places, project }: Pick<Metier, "config" | "places" | "project">,
  environment: Environment,
): Promise<CapabilityReport> {
  const inputs = { config: () => config, options: {}, places, environment, cwd: project.root };
  const vault = describeVault(vaultPlace(inputs));
  const wired = wireConfigured(inputs).map(({ timeoutMs = PATIENCE_MS, ...provider }) => ({
    ...provider,
    timeoutMs: Math.min(timeoutMs, PATIENCE_MS),
  }));
  if (wired.length === 0) return { providers: [], vault, accounts: [] };
  const broker = composeBroker(inputs, wired);
  try {
    return { providers: await broker.providers(), vault, ...(await listAccounts(broker)) };
  } finally {
    await broker.close();
  }
}

async function listAccounts(broker: CapabilityBroker): Promise<Pick<CapabilityReport, "accounts" | "fault">> {
  const listed = await offerCapabilities(broker).list(readCaller({}), { all: true });
  if (!listed.ok) return { accounts: [], fault: listed.fault };
  const accounts = listed.value.flatMap(({ id, linkedAccounts }) =>
    linkedAccounts.map((account) => ({ capability: id, ...account })),
  );
  return { accounts };
}

export interface WantedCapability {
  readonly id: string;
  /** The provider that would perform it; `null` if none is configured. */
  readonly provider: string | null;
}

/** Reads only the config and starts nothing. */
export function findProviders(
  { config, places, project }: Pick<Metier, "config" | "places" | "project">,
  environment: Environment,
  ids: readonly string[],
): readonly WantedCapability[] {
  const wired = wireConfigured({ config: () => config, options: {}, places, environment, cwd: project.root });
  return ids.map((id) => {
    const provider = wired.find(({ namespace, fault }) => !fault && id.startsWith(`${namespace}.`));
    return { id, provider: provider?.name ?? null };
  });
}

/** Empty if there is nothing to report. */
export function capabilityLines({ providers, vault, accounts, fault }: CapabilityReport): readonly string[] {
  const isIdle = providers.length === 0 && vault.key === "none" && !vault.fault;
  if (isIdle) return [];
  return [
    ...providers.flatMap(providerLines),
    ...vaultLines(vault),
    ...accounts.map((account) => `account of ${account.capability}: ${accountText(account)}`),
    ...(fault ? faultLines("accounts", fault) : []),
  ];
}

function providerLines(provider: ProviderStatus): readonly string[] {
  const { name, origin, kind, command = [], capabilities, fault } = provider;
  const what = `provider ${name} (${[origin, kind, command.join(" ")].filter(Boolean).join(", ")})`;
  if (fault) return faultLines(what, fault);
  return [`${what}: ${capabilities.join(", ")}`];
}

function vaultLines({ folder, key, keychain, fault }: VaultState): readonly string[] {
  if (fault) return faultLines("vault", fault);
  const place = {
    keychain: `its key is in the system keychain (${keychain ?? "its program was not found"})`,
    file: "its key is in key.json, which only you can read",
    none: `empty; its key will be in ${keychain ? `the system keychain (${keychain})` : "a file that only you can read"}`,
  };
  return [`vault ${folder}: ${place[key]}`];
}

function faultLines(what: string, { message, hint }: Pick<CapabilityFault, "message" | "hint">): string[] {
  return [`${what}: unusable. ${message}`, ...(hint === undefined ? [] : [`  → ${hint}`])];
}
