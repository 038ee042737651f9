/** The settings of one skill, with the defaults and the capability provider's own table merged in. */
import type { CapabilityProviderConfig, Config, EnvironmentValue } from "./config.ts";

export interface ResolvedSkillSettings {
  /** What `[skills.<name>]` says; `undefined` when it says nothing, which an opt-in skill takes as no. */
  readonly enabled?: boolean;
  readonly model?: string;
  /** Empty: every chat. A skill's own empty list lifts the default one. */
  readonly allowChatIds: readonly string[];
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly capabilityProvider?: CapabilityProviderConfig;
}

const NO_VARIABLES: Readonly<Record<string, EnvironmentValue>> = Object.freeze(Object.create(null));

/** The UPPER_CASE values that the config has for a skill. */
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
    ...(enabled !== undefined && { enabled }),
    ...(model !== undefined && { model }),
    ...(Object.keys(provider).length > 0 && { capabilityProvider: provider }),
  };
}
