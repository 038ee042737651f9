/**
 * Which providers there are, from three places: `[capabilities.providers.<name>]`, which beats
 * `[skills.<name>.capability-provider]`, which beats the preset of that name; and those that the program brings along.
 * Nothing is started here. A provider whose config is at fault is named with the fault, and hinders no other.
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
  /** Fetches the values of `env` that the config only refers to. */
  readonly machine: SecretMachine;
  /** Of the embedding program: before all others, so that one of the same namespace is theirs. */
  readonly given?: readonly CapabilityProvider[] | undefined;
  /** Makes the key of one provider. */
  readonly bridgeTokens?: ((namespace: string) => BridgeTokens) | undefined;
}

/** Those that need no config of their own: `[skills.<name>] enabled = true` wires the one of that name. */
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

/** In the order of their names. */
function namesOf({ skills, capabilities }: WireRequest["config"]): readonly string[] {
  const ofSkills = Object.entries(skills.settings).flatMap(([name, { capabilityProvider }]) =>
    capabilityProvider ? [name] : [],
  );
  const names = new Set([...Object.keys(capabilities.providers), ...ofSkills, ...PRESETS.keys()]);
  return [...names].sort(compareText);
}

/** `undefined` where there is no provider of that name, or it is switched off. */
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
  // A table with limits alone says how a provider is held, if there is one; a project may write it without adding any.
  const isMeant = isNamed || isMissed || merged.namespace !== undefined || merged.enabled === true;
  if (!isMeant) return undefined;
  const isPreset = preset !== undefined && merged.command === preset.command;
  return { merged, origin: isPreset ? "preset" : "config" } as const;
}

/** Who names a program or a server replaces both of the weaker layer, and how it was started. */
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
    answerFault("capability_backend_unavailable", `The provider \`${name}\` cannot be used: ${message}.`, {
      hint,
    }).fault;
  if (!NAMESPACE.test(namespace)) {
    return blame(
      `its namespace is \`${namespace}\`; allowed are lower-case letters, digits, \`-\` and \`_\`, a letter or digit first`,
      `Set \`namespace\` in ${table}.`,
    );
  }
  if (command && mcp) return blame("it has both `command` and `mcp`", `Keep one of them in ${table}.`);
  if (!(command || mcp)) {
    const hint = `Set \`command\` in ${table} to its program.`;
    return blame("it has neither `command` nor `mcp`", [tellMoved(name) ?? [], hint].flat().join(" "));
  }
  if (mcp && persistent !== undefined) {
    return blame("`persistent` is for bridges, and it is an MCP server", `Remove it in ${table}.`);
  }
  const idle = mcp && "url" in mcp ? Object.keys(env).filter((variable) => variable !== "AUTHORIZATION") : [];
  if (idle.length > 0) {
    const shown = idle.map((variable) => `\`${variable}\``).join(", ");
    return blame(
      `a server at an address has no variables, and \`env\` has ${shown}`,
      "For such a server `env` may have `AUTHORIZATION` alone, which is sent as its header.",
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
