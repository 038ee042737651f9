/** Whether configuration lets a skill be used, and the sentence that says why not. */
import type { SkillsConfig } from "../config/config.ts";
import { pluginName } from "../config/plugin-entry.ts";
import { type NameMatcher, nameMatcher } from "../foundation/glob-pattern.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { Scope } from "../skill/scope.ts";

/** What the answer depends on. A placed skill has it. */
export interface EnablementSubject {
  readonly manifest: Pick<SkillManifest, "name" | "optIn">;
  readonly root: { readonly scope: Scope };
}

/** Answers with the reason a skill is disabled, or nothing. */
export type DecideEnabled = (skill: EnablementSubject) => string | undefined;

export function enablementOf(config: SkillsConfig): DecideEnabled {
  const disabled = nameMatcher(config.disabled);
  const deny = nameMatcher(config.deny);
  const allowLists = [config.allow, ...config.allowWithin].filter((list) => list.length > 0);
  const allow = allowLists.map(nameMatcher);
  const pluginsOff = new Set(config.plugins.filter(({ enabled }) => !enabled).map(pluginName));
  return (skill) => {
    const { name, optIn } = skill.manifest;
    const enabled = config.settings[name]?.enabled;
    if (enabled === false) return `disabled by \`enabled = false\` under \`[skills.${name}]\``;
    return (
      listed(disabled, name, "disabled", "skills.disabled") ??
      bundledReason(skill, config) ??
      pluginReason(skill, pluginsOff) ??
      listed(deny, name, "denied", "skills.deny") ??
      (allow.every((matches) => matches(name)) ? undefined : "not among the names in `skills.allow`") ??
      (optIn && enabled !== true
        ? `opt-in: set \`enabled = true\` under \`[skills.${name}]\` (\`metier enable ${name}\`)`
        : undefined)
    );
  };
}

function listed(match: NameMatcher, name: string, word: string, key: string): string | undefined {
  const pattern = match(name);
  return pattern === undefined ? undefined : `${word} by \`${pattern}\` in \`${key}\``;
}

function bundledReason({ root, manifest }: EnablementSubject, config: SkillsConfig): string | undefined {
  if (root.scope !== "bundled") return undefined;
  if (config.disabledBundled.includes(manifest.name)) return "disabled by `skills.disabled-bundled`";
  const { enabledBundled } = config;
  if (enabledBundled.length > 0 && !enabledBundled.includes(manifest.name))
    return "not among `skills.enabled-bundled`";
  return undefined;
}

function pluginReason({ root, manifest }: EnablementSubject, off: ReadonlySet<string>): string | undefined {
  if (root.scope !== "installed" || !off.has(manifest.name)) return undefined;
  return "disabled by its entry in `skills.plugins`";
}
