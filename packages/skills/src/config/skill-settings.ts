/**
 * The `[skills.<name>]` tables: one skill's settings, merged with the defaults and the capability provider's own table,
 * and a warning for a table without a matching skill.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { nearestNames, tellMoved } from "@metier/base/text";
import type { CapabilityProviderConfig, Config, EnvironmentValue, LoadedConfig, Origin } from "./config.ts";
import { formatKeyPath, parseKeyPath } from "./show-config.ts";

export interface ResolvedSkillSettings {
  /** What `[skills.<name>]` says; `undefined` if nothing, which means no for an opt-in skill. */
  readonly enabled?: boolean | undefined;
  readonly model?: string | undefined;
  /** Empty: every chat. A skill's own empty list overrides the default one. */
  readonly allowChatIds: readonly string[];
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly capabilityProvider?: CapabilityProviderConfig | undefined;
}

const NO_VARIABLES: Readonly<Record<string, EnvironmentValue>> = Object.freeze(Object.create(null));

/** A skill's UPPER_CASE values in the config. */
export function skillVariables(
  { skills }: Pick<Config, "skills">,
  name: string,
): Readonly<Record<string, EnvironmentValue>> {
  return skills.settings[name]?.env ?? NO_VARIABLES;
}

export function skillSettings(config: Config, name: string): ResolvedSkillSettings {
  const { settings, defaults } = config.skills;
  const { enabled, model, allowChatIds, capabilityProvider } = settings[name] ?? {};
  const provider = { ...capabilityProvider, ...config.capabilities.providers[name] };
  return {
    allowChatIds: allowChatIds ?? defaults.allowChatIds,
    env: skillVariables(config, name),
    enabled,
    model,
    capabilityProvider: Object.keys(provider).length > 0 ? provider : undefined,
  };
}

/** Tables without a matching skill: likely a typo, so one warning each. */
export function checkSkillTables(
  { config, origins }: Pick<LoadedConfig, "config" | "origins">,
  namesOfSkills: () => ReadonlySet<string>,
): readonly Diagnostic[] {
  const named = new Map<string, Origin>();
  for (const [key, origin] of origins) {
    const [section, name = ""] = parseKeyPath(key) ?? [];
    const isSkill = section === "skills" && name in config.skills.settings;
    if (isSkill && !named.has(name)) named.set(name, origin);
  }
  const skillNames = named.size === 0 ? undefined : namesOfSkills();
  const unknown = [...named].filter(([name]) => !skillNames?.has(name));
  return [
    ...config.skills.enabledBundled.flatMap(
      (name) => reportMoved(name, "`skills.enabled-bundled`", origins.get("skills.enabled-bundled")) ?? [],
    ),
    ...unknown.map(([name, origin]) => report(name, origin, skillNames ?? new Set())),
  ];
}

function report(name: string, origin: Origin, skillNames: ReadonlySet<string>): Diagnostic {
  const table = `\`[${formatKeyPath(["skills", name])}]\``;
  const moved = reportMoved(name, table, origin);
  if (moved) return moved;
  const [near] = nearestNames(name, skillNames, 1);
  const hint = near ? `Did you mean \`${near}\`?` : "Fix the name, or remove the table.";
  const message = `${table} does not match any skill.`;
  return { code: "config.unknown-skill", severity: "warning", message, ...placeOf(origin), hint };
}

/** `undefined` for a name that was never bundled. */
function reportMoved(name: string, key: string, origin: Origin | undefined): Diagnostic | undefined {
  const hint = tellMoved(name);
  if (hint === undefined) return undefined;
  const message = `${key} names the skill \`${name}\`, which is no longer bundled.`;
  return { code: "config.no-longer-bundled", severity: "warning", message, ...placeOf(origin), hint };
}

function placeOf(origin: Origin | undefined): Pick<Diagnostic, "path" | "line"> {
  return { path: origin?.where ?? "", line: origin?.line };
}
