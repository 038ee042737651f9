/**
 * Collects the providers: `[capabilities.providers.<name>]` beats `[skills.<name>.capability-provider]`, which beats
 * the preset of that name; plus those from the embedding program. Starts nothing. A provider with an invalid config is
 * listed with its fault and does not affect the others.
 */
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { compareText, tellMoved } from "@metier/base/text";
import { createRedactor, type SecretMachine } from "@metier/sandbox/secrets";
import type { CapabilitiesConfig, CapabilityProviderConfig, SkillsConfig } from "@metier/skills/config";
import { answerFault, type CapabilityFault, type CapabilityProvider } from "../capability.ts";
import type { WiredProvider } from "../provider-registry.ts";
import { type BridgeTokens, createBridgeTokens } from "../tokens/caller-tokens.ts";
import { createBridgeProvider, createProcessPerCall } from "./bridge-provider.ts";
import { createMcpProvider } from "./mcp-provider.ts";
import { showAddress } from "./mcp-session.ts";
import { createPersistentBridge } from "./persistent-bridge.ts";
import { createLauncher, type ProviderSurroundings } from "./provider-launch.ts";

export interface WireRequest {
  readonly config: {
    readonly skills: Pick<SkillsConfig, "settings">;
    readonly capabilities: Pick<CapabilitiesConfig, "providers">;
  };
  readonly places: Pick<Places, "home">;
  readonly environment: Environment;
  /** Fetches the `env` values that the config only references. */
  readonly machine: SecretMachine;
  /** From the embedding program; they come first, so that they own their namespaces. */
  readonly given?: readonly CapabilityProvider[] | undefined;
  /** Creates one provider's key. */
  readonly bridgeTokens?: ((namespace: string) => BridgeTokens) | undefined;
}

/** Providers that need no config: `[skills.<name>] enabled = true` enables the one of that name. */
const PRESETS: ReadonlyMap<string, CapabilityProviderConfig> = new Map([
  ["gog", { command: ["gogcli", "bridge"] }],
]);
const DEFAULT_TIMEOUT_SECONDS = 30;
const NAMESPACE = /^[a-z0-9][a-z0-9_-]*$/;

export function wireProviders(request: WireRequest): readonly WiredProvider[] {
  const { given = [] } = request;
  const configured = namesOf(request.config).flatMap((name) => wire(name, request) ?? []);
  return [
    ...given.map((provider): WiredProvider => {
      const { namespace } = provider;
      return { name: namespace, namespace, kind: "in-process", origin: "program", provider };
    }),
    ...configured,
  ];
}

/** Sorted by name. */
function namesOf({ skills, capabilities }: WireRequest["config"]): readonly string[] {
  const ofSkills = Object.entries(skills.settings).flatMap(([name, { capabilityProvider }]) =>
    capabilityProvider ? [name] : [],
  );
  const names = new Set([...Object.keys(capabilities.providers), ...ofSkills, ...PRESETS.keys()]);
  return [...names].sort(compareText);
}

/** `undefined` if there is no such provider, or it is disabled. */
function wire(name: string, request: WireRequest): WiredProvider | undefined {
  const found = mergeConfig(name, request.config);
  if (found === undefined || found.merged.enabled === false) return undefined;
  const { merged, origin } = found;
  const namespace = merged.namespace ?? name;
  const timeoutMs = (merged.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const about = { name, namespace, origin, timeoutMs, kind: kindOf(merged), ...shownCommand(merged) };
  const fault = findFault(name, namespace, merged);
  return fault ? { ...about, fault } : { ...about, ...createProvider(about, merged, request) };
}

function mergeConfig(name: string, { skills, capabilities }: WireRequest["config"]) {
  const settings = Object.hasOwn(skills.settings, name) ? skills.settings[name] : undefined;
  const explicit = Object.hasOwn(capabilities.providers, name) ? capabilities.providers[name] : undefined;
  const ofSkill = settings?.enabled === false ? undefined : settings?.capabilityProvider;
  const isEnabled = [settings, ofSkill, explicit].some((table) => table?.enabled === true);
  const preset = isEnabled ? PRESETS.get(name) : undefined;
  const layers = [preset ?? {}, ofSkill ?? {}, explicit ?? {}];
  const merged = layers.reduce(mergeLayer);
  const isNamed = merged.command !== undefined || merged.mcp !== undefined;
  // Its preset is gone, but its own table was made for it.
  const isMissed = isEnabled && (explicit ?? ofSkill) !== undefined && tellMoved(name) !== undefined;
  // A table with only limits configures an existing provider; a project may write it without adding one.
  const isMeant = isNamed || isMissed || merged.namespace !== undefined || merged.enabled === true;
  if (!isMeant) return undefined;
  const isPreset = preset !== undefined && merged.command === preset.command;
  return { merged, origin: isPreset ? "preset" : "config" } as const;
}

/** A layer that names a program or server replaces both of the weaker layer, and how it was started. */
function mergeLayer(
  weaker: CapabilityProviderConfig,
  stronger: CapabilityProviderConfig,
): CapabilityProviderConfig {
  const { command, mcp, persistent, ...others } = weaker;
  const replaces = stronger.command !== undefined || stronger.mcp !== undefined;
  return { ...(replaces ? others : weaker), ...stronger, env: { ...weaker.env, ...stronger.env } };
}

function kindOf({ mcp, persistent = false }: CapabilityProviderConfig): WiredProvider["kind"] {
  if (mcp) return "mcp";
  return persistent ? "bridge-persistent" : "bridge";
}

function shownCommand({ command, mcp }: CapabilityProviderConfig): Pick<WiredProvider, "command"> {
  if (mcp && "url" in mcp) return { command: [showAddress(mcp.url)] };
  const words = mcp?.command ?? command;
  return words ? { command: words } : {};
}

function findFault(
  name: string,
  namespace: string,
  { command, mcp, persistent, env = {} }: CapabilityProviderConfig,
): CapabilityFault | undefined {
  const table = `\`[capabilities.providers.${name}]\``;
  const blame = (message: string, hint: string): CapabilityFault =>
    answerFault("capability_backend_unavailable", `The provider \`${name}\` is not valid: ${message}.`, {
      hint,
    }).fault;
  if (!NAMESPACE.test(namespace)) {
    return blame(
      `its namespace is \`${namespace}\`; use lowercase letters, digits, \`-\` and \`_\`, starting with a letter or digit`,
      `Set \`namespace\` in ${table}.`,
    );
  }
  if (command && mcp) return blame("it has both `command` and `mcp`", `Keep one of them in ${table}.`);
  if (!(command || mcp)) {
    const hint = `Set \`command\` in ${table} to its program.`;
    return blame("it has neither `command` nor `mcp`", [tellMoved(name) ?? [], hint].flat().join(" "));
  }
  if (mcp && persistent !== undefined) {
    return blame("`persistent` is only for bridges, not for MCP servers", `Remove it from ${table}.`);
  }
  const idle = mcp && "url" in mcp ? Object.keys(env).filter((variable) => variable !== "AUTHORIZATION") : [];
  if (idle.length > 0) {
    const shown = idle.map((variable) => `\`${variable}\``).join(", ");
    return blame(
      `an MCP server with a URL takes no variables, but \`env\` has ${shown}`,
      "For such a server, `env` may contain only `AUTHORIZATION`, which is sent as that header.",
    );
  }
  return undefined;
}

function createProvider(
  { name, namespace, timeoutMs }: Pick<WiredProvider, "name" | "namespace"> & { readonly timeoutMs: number },
  { command = [], mcp, persistent = false, env = {} }: CapabilityProviderConfig,
  { places, environment, machine, bridgeTokens = createBridgeTokens }: WireRequest,
): Pick<WiredProvider, "provider" | "tokens"> {
  const surroundings: ProviderSurroundings = { home: places.home, environment, machine };
  const redactor = createRedactor();
  const about = { name, namespace, timeoutMs, env, surroundings, redactor };
  if (mcp) return { provider: createMcpProvider({ ...about, server: mcp }) };
  const tokens = bridgeTokens(namespace);
  const program = { name, command, env, verifierSecret: tokens.exportSecret() };
  const parts = { name, timeoutMs, launch: createLauncher(program, surroundings, redactor) };
  const exchange = persistent ? createPersistentBridge(parts) : createProcessPerCall(parts);
  return { provider: createBridgeProvider(namespace, exchange, redactor), tokens };
}
