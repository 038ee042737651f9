/** `metier/langchain`: skills for LangChain.js. */
import { checkHostVersion } from "@metier/runtime/adapters";

export {
  type AdaptedSkills,
  type LangChainMiddleware,
  type LangChainModelRequest,
  type LangChainSkills,
  type LangChainSkillsOptions,
  type LangChainTool,
  type LangChainToolMaker,
  type LangChainToolRequest,
  langChainSkills,
  type OffersSkills,
} from "@metier/runtime/adapters";

checkHostVersion("langchain");
