/** The public names that most programs need. Subpaths have the rest. Importing it has no side effects. */

export type { ConsoleLogger, LogFields, Logger, LogLevel, PinoLogger } from "@metier/base/diagnostic";
export {
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  type Severity,
} from "@metier/base/diagnostic";
export {
  ConfigError,
  type ErrorCode,
  type ErrorRecord,
  EXIT,
  type ExitCode,
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
} from "@metier/base/errors";
export type { Json, JsonObject } from "@metier/base/json";
export { VERSION } from "@metier/base/places";
export type {
  ApprovalAnswer,
  ApprovalQuestion,
  AskApproval,
  AskUser,
  BranchOptions,
  Caller,
  Chat,
  ChatMessage,
  ChatOptions,
  ChatStore,
  ChatTurn,
  EventResponseInit,
  GivenAgent,
  InvocationRefusal as Refusal,
  InvokeOutcome,
  ObjectResult,
  RefusalReason,
  ResultFor,
  RunEvents,
  RunHandle,
  RunLimits,
  RunOutline,
  RunRequest,
  RunResult,
  RunStreams,
  RunUIChunk,
  ScriptRequest,
  ScriptResult,
  SendOptions,
  SkillOffer,
  SkillOfferOptions,
  SkillRequest,
  StreamOptions,
  StreamResponseInit,
  TextStream,
  Tool,
  ToolContext,
  ToolGuard,
  ToolInput,
  ToolOutput,
  UIRunMetadata,
  UISkillData,
} from "@metier/run";
export {
  type DefinedTool,
  defineTool,
  type GivenSchema,
  type GivenTool,
  type PlainGivenTool,
  type ProgramEffect,
  type SchemaInput,
  type SchemaOutput,
  type StandardIssue,
  type StandardOutcome,
  type StandardSchema,
  type ToolCallContext,
  type ToolDefinition,
  type ToolLog,
  type ToolLogCall,
  withJsonSchema,
} from "@metier/run";
export type {
  ClientEvent,
  KeptRun,
  KeptRunLog,
  RunEvent,
  RunQuery,
  RunStatus,
  RunStore,
  RunsOptions,
  SavedChat,
  TokenUsage,
} from "@metier/run/events";
export type { GivenModel, GivenModels, Script } from "@metier/run/model";
// Kept for one more version: they are in `metier/compat` now.
export {
  /** @deprecated Import it from `metier/compat`. */
  Agent,
  /** @deprecated Import it from `metier/compat`. */
  type AgentOptions,
  /** @deprecated Import it from `metier/compat`. */
  type AgentSettings,
  /** @deprecated Import it from `metier/compat`. */
  AgentSkillsSection,
  /** @deprecated Import it from `metier/compat`. */
  type AgentSkillsSectionOptions,
  createMetier,
  createScriptedModel,
  type Disclosure,
  /** @deprecated Import it from `metier/compat`. */
  type InstallOptions,
  /** @deprecated Import it from `metier/compat`. */
  type InstallResult,
  /** @deprecated Import it from `metier/compat`. */
  type LoadedSkill,
  /** @deprecated Import it from `metier/compat`. */
  type ManagerValidation,
  type Metier,
  type MetierOptions,
  type MetierView,
  type Moment,
  type OffersSkills,
  type PlannedRun,
  /** @deprecated Import it from `metier/compat`. */
  type PluginDefinition,
  type RunFilter,
  type Running,
  type RunningOptions,
  type RunOwner,
  type RunSelection,
  type Runs,
  type ScriptedModel,
  /** @deprecated Import it from `metier/compat`. */
  type SectionVisibility,
  /** @deprecated Import it from `metier/compat`. */
  type SkillContext,
  /** @deprecated Import it from `metier/compat`. */
  SkillContextProvider,
  /** @deprecated Import it from `metier/compat`. */
  type SkillDefinition,
  /** @deprecated Import it from `metier/compat`. */
  SkillExecutor,
  /** @deprecated Import it from `metier/compat`. */
  type SkillExecutorConfig,
  /** @deprecated Import it from `metier/compat`. */
  SkillInstaller,
  /** @deprecated Import it from `metier/compat`. */
  type SkillInstallerConfig,
  /** @deprecated Import it from `metier/compat`. */
  SkillManager,
  /** @deprecated Import it from `metier/compat`. */
  type SkillManagerConfig,
  /** @deprecated Import it from `metier/compat`. */
  SkillRegistry,
  /** @deprecated Import it from `metier/compat`. */
  SkillResult,
  /** @deprecated Import it from `metier/compat`. */
  type SkillSettings,
  type ViewAuthorizing,
  type ViewCapabilities,
  type ViewChat,
  type ViewLimits,
  type ViewOptions,
  type WatchOutcome,
} from "@metier/runtime";
export {
  type AdaptedSkills,
  type PlainMessage,
  type PlainSkills,
  type PlainTool,
  plainSkills,
} from "@metier/runtime/adapters";
export { defineToolset } from "@metier/sandbox";
export {
  Catalog,
  defineSkill,
  type ExecutableFile,
  type FindHit,
  type GivenFiles,
  type GivenSkill,
  type Instructions,
  type ListingOptions,
  PROFILES,
  type Profile,
  type ResourceContent,
  type ResourceListing,
  SCOPES,
  type Scope,
  type Skill,
  type SkillFilter,
  type SkillInit,
  type SkillManifest,
  type SkillSource,
  type SkillStatus,
  type SourceCall,
  type SourceContent,
  type SourceEntry,
  type SourceFile,
  type SourceOrigin,
  type TriggerMatches,
  type Trust,
  type TrustDecision,
  type ValidationReport,
} from "@metier/skills";
export type { Config, LoadedConfig, PresetName } from "@metier/skills/config";
