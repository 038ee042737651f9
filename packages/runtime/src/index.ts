/** The exports of `@metier/runtime`. */

export { Agent, type AgentOptions, type AgentSettings } from "./facades/agent.ts";
export {
  AgentSkillsSection,
  type AgentSkillsSectionOptions,
  type DiscoveredSkill,
  type SectionVisibility,
  SkillContextProvider,
  type SkillLoaderOptions,
  type SkillMetadata,
} from "./facades/prompt-sections.ts";
export {
  type InstallOptions,
  type InstallResult,
  type PluginDefinition,
  SkillInstaller,
  type SkillInstallerConfig,
} from "./facades/skill-installer.ts";
export {
  type LoadedSkill,
  type ManagerValidation,
  type RegistrableSkill,
  SkillManager,
  type SkillManagerConfig,
} from "./facades/skill-manager.ts";
export {
  type SkillContext,
  type SkillDefinition,
  SkillExecutor,
  type SkillExecutorConfig,
  SkillRegistry,
  SkillResult,
  type SkillSettings,
} from "./facades/skill-registry.ts";
export {
  type AsCaller,
  type Authorizing,
  type Capabilities,
  type CapabilityCallOptions,
  type FlowFilter,
  type ForgottenOwner,
  offerCapabilities,
  type UnlinkRequest,
} from "./runtime/capabilities.ts";
export { composeBroker, vaultPlace, wireConfigured } from "./runtime/compose-broker.ts";
export { createMetier, createMetierUnder, type Metier, type WatchOutcome } from "./runtime/create-metier.ts";
export type { Disclosure, ResourceOptions } from "./runtime/disclosure.ts";
export type {
  DurabilityOptions,
  DurableRunOptions,
  DurableRuns,
  WorkerOptions,
} from "./runtime/durable-runs.ts";
export type { Installing } from "./runtime/installing.ts";
export { loadState, type MetierState } from "./runtime/load-state.ts";
export type { CapabilityOptions, MetierOptions, RunningOptions } from "./runtime/metier-options.ts";
export type {
  AddOutcome,
  ApprovedSkill,
  FetchedSkill,
  RefreshOutcome,
  Remote,
  RemoteOptions,
} from "./runtime/remote.ts";
export type { OffersSkills, PlannedRun, Running } from "./runtime/running.ts";
export type { Moment, RunFilter, RunOwner, RunSelection, Runs } from "./runtime/runs.ts";
export { pathRefusal } from "./runtime/snapshots.ts";
export { validateWhole } from "./runtime/validate-beside.ts";
export type { MetierView, ViewAuthorizing, ViewCapabilities } from "./runtime/view.ts";
export type { ViewChat, ViewLimits, ViewOptions } from "./runtime/view-options.ts";
export { createScriptedModel, type ScriptedModel } from "./testing/test-metier.ts";
