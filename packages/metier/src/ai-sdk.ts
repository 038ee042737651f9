/** `metier/ai-sdk`: skills for the AI SDK. */
import { checkHostVersion } from "@metier/runtime/adapters";

export {
  type AdaptedSkills,
  type AiSdkInstructions,
  type AiSdkSchema,
  type AiSdkSkills,
  type AiSdkStep,
  type AiSdkStepSettings,
  type AiSdkTool,
  aiSdkSkills,
  type OffersSkills,
} from "@metier/runtime/adapters";

checkHostVersion("ai-sdk");
