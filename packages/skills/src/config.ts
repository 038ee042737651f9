/** The door `@metier/skills/config` for other packages. */

export { allowForGood, ruleLine } from "./config/always-rules.ts";
export {
  type CapabilitiesConfig,
  type CapabilityProviderConfig,
  type Config,
  type DefaultExecution,
  type EnvironmentsConfig,
  type EnvironmentValue,
  type KeychainEntry,
  type LoadedConfig,
  type McpConfig,
  type McpServer,
  type McpServerConfig,
  MODEL_PROVIDERS,
  type ModelConfig,
  type ModelProvider,
  type Origin,
  type OutputFilterMode,
  type PluginEntry,
  PRESETS,
  type PresetName,
  type Reach,
  type RunsConfig,
  type SandboxConfig,
  SCAN_SEVERITIES,
  type ScanConfig,
  type ScanSeverity,
  type SkillsConfig,
  type ToolAnswer,
} from "./config/config.ts";
export { commonDomains, commonFolders } from "./config/config-field.ts";
export { CONFIG_FIELDS, findField } from "./config/config-fields.ts";
export { configJsonSchema } from "./config/config-schema.ts";
export {
  addToConfigList,
  parseConfigValue,
  removeFromConfigList,
  setConfigTable,
  setConfigValue,
  unsetConfigValue,
} from "./config/edit-config.ts";
export { addPlugins, enablePlugin, type PluginMeaning, removePlugins } from "./config/edit-plugins.ts";
export { ConfigSyntaxError, loadTomlEditor } from "./config/formats/config-document.ts";

export { type ConfigOverride, type LoadConfigOptions, loadConfig } from "./config/load-config.ts";
export {
  type ConfigRow,
  explainConfig,
  formatKeyPath,
  formatOrigin,
  parseKeyPath,
} from "./config/show-config.ts";
export { PLUGINS, pluginName } from "./config/skill-fields.ts";
export { type ResolvedSkillSettings, skillSettings } from "./config/skill-settings.ts";
export { splitCommand } from "./config/value-types.ts";
