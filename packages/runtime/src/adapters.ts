/** The exports of `@metier/runtime/adapters`. */
export type { AdaptedSkills } from "./adapters/adapter.ts";
export {
  type AiSdkInstructions,
  type AiSdkSchema,
  type AiSdkSkills,
  type AiSdkStep,
  type AiSdkStepSettings,
  type AiSdkTool,
  aiSdkSkills,
} from "./adapters/ai-sdk.ts";
export {
  type ClaudeHookAnswer,
  type ClaudeHookMatcher,
  type ClaudeHooks,
  type ClaudeMount,
  type ClaudeMountOptions,
  type ClaudeSkills,
  type ClaudeSkillsOptions,
  type ClaudeTool,
  type ClaudeToolResult,
  claudeSkills,
  type LeftOutSkill,
  mountClaudeSkills,
  type ZodLike,
} from "./adapters/claude.ts";
export { checkHostVersion } from "./adapters/host-version.ts";
export {
  type LangChainMiddleware,
  type LangChainModelRequest,
  type LangChainSkills,
  type LangChainSkillsOptions,
  type LangChainTool,
  type LangChainToolMaker,
  type LangChainToolRequest,
  langChainSkills,
} from "./adapters/langchain.ts";
export {
  type MastraProcessor,
  type MastraSkills,
  type MastraStep,
  type MastraStepSettings,
  type MastraTool,
  mastraSkills,
} from "./adapters/mastra.ts";
export {
  type OpenAiAgentSkills,
  type OpenAiAgentTool,
  type OpenAiChatSkills,
  type OpenAiChatTool,
  type OpenAiFunctionCallOutput,
  type OpenAiParameters,
  type OpenAiResponsesSkills,
  type OpenAiResponsesTool,
  type OpenAiToolMessage,
  openAiAgentSkills,
  openAiChatSkills,
  openAiResponsesSkills,
} from "./adapters/openai.ts";
export { type PlainMessage, type PlainSkills, type PlainTool, plainSkills } from "./adapters/plain.ts";
export type { OffersSkills } from "./runtime/running.ts";
