/**
 * What `doctor` and `show` say about capabilities: providers, the vault, and the accounts of the user of this machine.
 * Providers are asked, all at once and for a moment each: one that is slow is named as such.
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
  /** Of the user of this machine. */
  readonly accounts: readonly (LinkedAccount & { readonly capability: string })[];
  /** Why accounts are not known. */
  readonly fault?: CapabilityFault;
}

/** What a provider may take to say what it offers. */
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
  /** Who would perform it; `null`: nobody is wired. */
  readonly provider: string | null;
}

/** By the config alone: nothing is started. */
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

/** Nothing where there is nothing to tell. */
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
    keychain: `its key is in the keychain of the system (${keychain ?? "whose program is not found"})`,
    file: "its key is in key.json, which only you can read",
    none: `empty; its key will be in ${keychain ? `the keychain of the system (${keychain})` : "a file that only you can read"}`,
  };
  return [`vault ${folder}: ${place[key]}`];
}

function faultLines(what: string, { message, hint }: Pick<CapabilityFault, "message" | "hint">): string[] {
  return [`${what}: not usable. ${message}`, ...(hint === undefined ? [] : [`  → ${hint}`])];
}
