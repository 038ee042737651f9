/** `metier/run`: everything about runs, chats, tools and events; `metier` has the common part. */
export {
  type BudgetLimits,
  type ChatLimits,
  type ChatOffer,
  type ConversationCall,
  type ConversationTool,
  type ConversationToolOptions,
  type EnvironmentKind,
  type EnvironmentState,
  type OwnedTool,
  type PreparedInvocation,
  type PrepareOutcome,
  type RefusalCause,
  type SandboxUse,
  type SearchProvider,
  type SetUpOptions,
  type SkillSetUp,
  type SkillStore,
  type SkillTool,
  type SkillTools,
  type SkillToolsOptions,
  type StoreOptions,
  type ToolEffect,
  wrapResult,
} from "@metier/run";
export type { RunEventBody, RunLimit } from "@metier/run/events";
export type { ScriptedTurn } from "@metier/run/model";
