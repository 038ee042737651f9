/** `metier/claude`: skills for the Claude Agent SDK. */
import { checkHostVersion } from "@metier/runtime/adapters";

export {
  type AdaptedSkills,
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
  type OffersSkills,
  type ZodLike,
} from "@metier/runtime/adapters";

checkHostVersion("claude");
