/** `metier/openai`: skills for OpenAI's APIs. */
import { checkHostVersion } from "@metier/runtime/adapters";

export {
  type AdaptedSkills,
  type OffersSkills,
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
} from "@metier/runtime/adapters";

checkHostVersion("openai");
