/** The exports of `@metier/run`. */
export type { GivenAgent } from "./agents/agent.ts";
export type { LoadedAgents } from "./agents/load-agents.ts";
export type { LoadedCommands } from "./agents/load-commands.ts";
export {
  type RunOrder,
  readOrder,
  type TurnOrder,
  toRequest,
  writeOrder,
  writeTurn,
} from "./durable/run-order.ts";
export { chooseExecution, NEED_ISOLATION } from "./invoke/choose-execution.ts";
export { activateInline, createConversationTrust } from "./invoke/conversation-trust.ts";
export {
  type Caller,
  dataOwner,
  decideAccess,
  type Invocation,
  type InvocationRefusal,
  ownerOf,
  type PreparedInvocation,
  type PrepareOutcome,
  REFUSAL_REASONS,
  type RefusalCause,
  type RefusalReason,
  refusalError,
  refusalText,
  type SkillRequest,
  toCapabilityCaller,
  useSkillSchema,
} from "./invoke/invocation.ts";
export type { PrepareDependencies, SkillSources } from "./invoke/prepare.ts";
export { type CommandPlace, renderBody, splitArguments } from "./invoke/render-body.ts";
export { checkCaller, checkCallOptions, checkRequest } from "./run/call-options.ts";
export type {
  BranchOptions,
  Chat,
  ChatLimits,
  ChatMessage,
  ChatOffer,
  ChatOptions,
  ChatStore,
  ChatTurn,
  SendOptions,
} from "./run/chat-options.ts";
export { forgetTenantData, forgetUserData } from "./run/forget-data.ts";
export type { ToolGuard } from "./run/hold-tools.ts";
export {
  copyWorkFiles,
  dataFolders,
  listWorkFiles,
  openSkillStore,
  type SkillStore,
  type StoreOptions,
} from "./run/kept-files.ts";
export type { SkillOffer, SkillOfferOptions } from "./run/offer-skills.ts";
export type { EnvironmentKind } from "./run/packages/environment-plan.ts";
export type {
  EnvironmentRequest,
  EnvironmentState,
  PreparedEnvironments,
  SetUpOptions,
  SkillSetUp,
} from "./run/packages/prepare-environments.ts";
export { type Budget, type BudgetLimits, createBudget, type RunLimits } from "./run/run-limits.ts";
export type { ApprovalAnswer, ApprovalQuestion, AskApproval } from "./run/run-policy.ts";
export {
  configFilesOf,
  foldersOf,
  hideRestricted,
  hideRuns,
  openHandle,
  type PrepareOptions,
  type RunCapabilities,
  type RunEvents,
  type RunHandle,
  type RunHost,
  type RunRequest,
  type ScriptRequest,
} from "./run/run-request.ts";
export type {
  InvokeOutcome,
  ObjectResult,
  ResultFor,
  RunOutline,
  RunResult,
  SandboxUse,
  ScriptResult,
} from "./run/run-result.ts";
export type {
  EventResponseInit,
  RunStreams,
  StreamOptions,
  StreamResponseInit,
  TextStream,
} from "./run/run-streams.ts";
export type { RunUIChunk, UIRunMetadata, UISkillData } from "./run/ui-chunks.ts";
export {
  type ConversationCall,
  type ConversationTool,
  type ConversationToolOptions,
  checkCalls,
  createConversationTool,
  wrapResult,
} from "./run/use-skill.ts";
export type { AskUser } from "./tools/ask-user.ts";
export {
  type DefinedTool,
  defineTool,
  type GivenTool,
  type PlainGivenTool,
  type ProgramEffect,
  type ToolCallContext,
  type ToolDefinition,
} from "./tools/define-tool.ts";
export {
  type GivenSchema,
  type SchemaInput,
  type SchemaOutput,
  type StandardIssue,
  type StandardOutcome,
  type StandardSchema,
  withJsonSchema,
} from "./tools/given-schema.ts";
export {
  findSkillsTool,
  listSkillsTool,
  readSkillFileTool,
  type SkillLibrary,
  type SkillTool,
  type SkillTools,
  type SkillToolsOptions,
  skillTools,
} from "./tools/skill-tools.ts";
export {
  answer,
  checkProgramTools,
  fault,
  type OwnedTool,
  ownTool,
  readToolName,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolInput,
  type ToolLog,
  type ToolLogCall,
  type ToolOutput,
} from "./tools/tool.ts";
export { createToolPolicy, type PolicyDecision } from "./tools/tool-policy.ts";
export { type OpenedToolsets, openToolsets, type ToolsetsInput } from "./tools/toolsets/open-toolsets.ts";
export type { SearchProvider } from "./tools/web/web-tools.ts";
