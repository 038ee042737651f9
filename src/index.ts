/** The public surface, by name. Importing it reads nothing, writes nothing and starts nothing. */
export { type PlainMessage, type PlainSkills, type PlainTool, plainSkills } from "./adapters/plain.ts";
export type { GivenAgent } from "./agents/agent.ts";
export type {
  CapabilityCaller,
  CapabilityDefinition,
  CapabilityListing,
  CapabilityOperation,
  JsonObject,
  LinkedAccount,
} from "./capabilities/capability.ts";
export type {
  AuditEntry,
  AuthFlow,
  BeginRequest,
  CompletedAuth,
  CompleteRequest,
  ConfirmMutation,
  InvokeAnswer,
  InvokeRequest,
  MutationPlan,
  PolledAuth,
  ProviderStatus,
} from "./capabilities/capability-broker.ts";
export {
  type Answer,
  CAPABILITY_CODES,
  type CapabilityCode,
  type CapabilityFault,
} from "./capabilities/capability-fault.ts";
export type {
  AuthBeginRequest,
  AuthCompleteRequest,
  AuthorizedAccount,
  AuthPoll,
  AuthPollRequest,
  BegunAuth,
  CapabilityProvider,
  FlowType,
  ProviderAccount,
  ProviderContext,
  ProviderInvocation,
  ProviderVault,
} from "./capabilities/capability-provider.ts";
export { Catalog, type SearchedPlace, type SkillFilter } from "./catalog/catalog.ts";
export type { GivenSkill } from "./catalog/given-skills.ts";
export type { ValidationReport, ValidationResult } from "./catalog/validate-paths.ts";
export type { Config, LoadedConfig, Origin, PresetName } from "./config/config.ts";
export type { ScanSeverity } from "./config/scan-fields.ts";
export { type Conversation, createConversation } from "./disclose/conversation.ts";
export { estimateTokens, loadTokenCounter, type TokenCounter } from "./disclose/count-tokens.ts";
export type { ResourceKind, ResourceListing, SkillResource } from "./disclose/list-resources.ts";
export type { Activation, ListingFormatName, ListingOptions, LocationStyle } from "./disclose/listing.ts";
export { mountSkills } from "./disclose/mount-skills.ts";
export { outline, section } from "./disclose/outline.ts";
export type { ListingPlan, ListingReport, PlanOptions } from "./disclose/plan-listing.ts";
export { findProtected } from "./disclose/protect.ts";
export type { Instructions } from "./disclose/read-instructions.ts";
export type { ResourceContent } from "./disclose/read-resource.ts";
export { wrapInstructions } from "./disclose/wrap-instructions.ts";
export type {
  CapabilityUse,
  RunEvent,
  RunEventBody,
  RunLimit,
  RunStatus,
  TokenUsage,
} from "./events/run-event.ts";
export { Agent, type AgentOptions, type AgentSettings } from "./facades/agent.ts";
export {
  AgentSkillsSection,
  type AgentSkillsSectionOptions,
  type SectionVisibility,
} from "./facades/agent-skills-section.ts";
export type { ManagerValidation } from "./facades/manager-validation.ts";
export { createScriptedModel, type ScriptedModel } from "./facades/scripted-model.ts";
export { SkillContextProvider } from "./facades/skill-context-provider.ts";
export type { SkillDefinition } from "./facades/skill-definition.ts";
export { SkillExecutor, type SkillExecutorConfig } from "./facades/skill-executor.ts";
export {
  type InstallOptions,
  type InstallResult,
  type PluginDefinition,
  SkillInstaller,
  type SkillInstallerConfig,
} from "./facades/skill-installer.ts";
export { type LoadedSkill, SkillManager, type SkillManagerConfig } from "./facades/skill-manager.ts";
export { SkillRegistry, type SkillSettings } from "./facades/skill-registry.ts";
export { type SkillContext, SkillResult } from "./facades/skill-result.ts";
export type { FindHit } from "./find/build-finder.ts";
export type { TriggerMatch, TriggerMatches, TriggerReason } from "./find/match-triggers.ts";
export type { Diagnostic, Severity } from "./foundation/diagnostic.ts";
export { DIAGNOSTIC_CODES, type DiagnosticCode } from "./foundation/diagnostic-codes.ts";
export {
  ConfigError,
  type ErrorCode,
  type ErrorRecord,
  type InvocationSource,
  MetierError,
  RemoteSkillError,
  SkillConflictError,
  SkillError,
  SkillInvocationError,
  SkillLoadError,
  SkillMountError,
  SkillNotFoundError,
  SkillParseError,
  SkillResourceError,
  SkillValidationError,
  UsageError,
} from "./foundation/errors.ts";
export { EXIT, type ExitCode } from "./foundation/exit-codes.ts";
export { VERSION } from "./foundation/version.ts";
export type { InstalledWish } from "./install/choose-installed.ts";
export type { FetchProgress } from "./install/fetch-source.ts";
export type { InstallFault, InstallFaultCode } from "./install/install-fault.ts";
export type {
  ChoosableSkill,
  ConflictAnswer,
  InstallConflict,
  InstallDecisions,
  InstalledSkill,
  InstallOutcome,
  InstallReport,
  InstallRequest,
  InstallReview,
  ReviewedSkill,
  SkillFinding,
  SkippedSkill,
} from "./install/install-request.ts";
export type { OutdatedOutcome, OutdatedRequest, OutdatedSkill, VersionMark } from "./install/outdated.ts";
export type { RemoveOptions, RemoveOutcome } from "./install/remove.ts";
export type { RollbackOptions, RollbackOutcome } from "./install/rollback.ts";
export type { ScriptGroup, SkillSummary } from "./install/summarise.ts";
export type {
  LocalChanges,
  NewRisk,
  NotUpdated,
  ReviewedFile,
  UpdateAnswer,
  UpdateDecisions,
  UpdatedSkill,
  UpdateOutcome,
  UpdateRequest,
  UpdateResult,
  UpdateReview,
} from "./install/update-request.ts";
export type { VerifiedFolder, VerifiedSkill, VerifyReport } from "./install/verify.ts";
export type { VerifiedGrant } from "./install/verify-grants.ts";
export type {
  Caller,
  PreparedInvocation,
  PrepareOutcome,
  Refusal,
  RefusalCause,
  RefusalReason,
  SkillRequest,
} from "./invoke/invocation.ts";
export type { LockEntry, PlacedCopy, PreviousVersion, SourceKind } from "./lock/lock-entry.ts";
export type { GivenModel, GivenModels } from "./model/given-model.ts";
export type { Script, ScriptedTurn } from "./model/script.ts";
export type { ClientReport, CompatRemark, SkillCompatibility } from "./publish/compat/check-compat.ts";
export {
  type CompatibilityOptions,
  type CompatibilityReport,
  checkCompatibility,
  type RewrittenSkill,
} from "./publish/compat/compatibility.ts";
export type { LeftOut } from "./publish/left-out.ts";
export {
  type PackedSkill,
  type PackOptions,
  type PackOutcome,
  type PackReport,
  packPlugin,
} from "./publish/plugin/pack-plugin.ts";
export type { PluginAuthor, PluginFields, PluginManifest } from "./publish/plugin/plugin-manifest.ts";
export type {
  PublishFault,
  PublishFaultCode,
  PublishRefusal,
  RefusedSkill,
} from "./publish/publish-outcome.ts";
export {
  type PublishedSkill,
  type PublishOptions,
  type PublishOutcome,
  type PublishReport,
  publishSkills,
} from "./publish/well-known/publish-skills.ts";
export type { RemoteSkillStatus, RemoteStatus } from "./remote/describe-servers.ts";
export type { ForgottenSkills } from "./remote/forget.ts";
export type { ApprovalAnswer, ApprovalQuestion, AskApproval } from "./run/approvals.ts";
export type { BudgetLimits } from "./run/budget.ts";
export type { Chat, ChatLimits, ChatOptions, ChatTurn, SendOptions } from "./run/chat.ts";
export type { ChatOffer } from "./run/chat-slash.ts";
export type { ConversationCall, ConversationTool, ConversationToolOptions } from "./run/conversation-tool.ts";
export type { EnvironmentKind } from "./run/environments/environment-plan.ts";
export type { EnvironmentState } from "./run/environments/prepare-environments.ts";
export type { InvokeOutcome } from "./run/invoke-outcome.ts";
export type { SkillOffer, SkillOfferOptions } from "./run/offer-skills.ts";
export type { RunHandle } from "./run/run-handle.ts";
export type { RunLimits } from "./run/run-limits.ts";
export type { RunOutline } from "./run/run-outline.ts";
export type { RunRequest } from "./run/run-request.ts";
export type { RunResult, SandboxUse } from "./run/run-result.ts";
export type { ScriptRequest, ScriptResult } from "./run/script-result.ts";
export type { SetUpOptions, SkillSetUp } from "./run/set-up-skill.ts";
export type { SkillStore, StoreOptions } from "./run/skill-store.ts";
export { wrapResult } from "./run/wrap-result.ts";
export type {
  AsCaller,
  Authorizing,
  Capabilities,
  CapabilityCallOptions,
  FlowFilter,
  UnlinkRequest,
} from "./runtime/capabilities.ts";
export { createMetier, type Metier, type WatchOutcome } from "./runtime/create-metier.ts";
export type { Disclosure, ResourceOptions } from "./runtime/disclosure.ts";
export type { Installing } from "./runtime/installing.ts";
export type { CapabilityOptions, MetierOptions, RunningOptions } from "./runtime/metier-options.ts";
export type {
  AddOutcome,
  ApprovedSkill,
  FetchedSkill,
  RefreshOutcome,
  Remote,
  RemoteOptions,
} from "./runtime/remote.ts";
export type { PlannedRun, Running } from "./runtime/running.ts";
export {
  defineToolset,
  type FromSchema,
  type Toolset,
  type ToolsetContext,
  type ToolsetJson,
  type ToolsetSchema,
  type ToolsetTool,
} from "./sandbox/inside/define-toolset.ts";
export type { Finding } from "./scan/finding.ts";
export type { SkippedPart } from "./scan/scan-limits.ts";
export type { PathsReport, ScannedPath } from "./scan/scan-paths.ts";
export type { ScanReport } from "./scan/scan-skill.ts";
export type { Json, SkillManifest, SkillRequirements } from "./skill/manifest.ts";
export { SCOPES, type Scope } from "./skill/scope.ts";
export type {
  LockedSkill,
  RemoteFile,
  RemoteOrigin,
  Skill,
  SkillForm,
  SkillPlace,
  SkillStatus,
  Trust,
  TrustDecision,
} from "./skill/skill.ts";
export type { AskUser } from "./tools/ask-user.ts";
export type { OwnedTool } from "./tools/own-tools.ts";
export type { SkillTool } from "./tools/skills/skill-tool.ts";
export type { SkillTools, SkillToolsOptions } from "./tools/skills/skill-tools.ts";
export type { Tool, ToolContext, ToolEffect, ToolInput, ToolOutput } from "./tools/tool.ts";
export type { SearchProvider } from "./tools/web/web-search.ts";
export { PROFILES, type Profile } from "./validate/profiles.ts";
