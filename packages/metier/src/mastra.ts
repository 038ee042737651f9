/** `metier/mastra`: skills for Mastra. */
import { checkHostVersion } from "@metier/runtime/adapters";

export {
  type AdaptedSkills,
  type AiSdkSchema,
  type AiSdkTool,
  type MastraProcessor,
  type MastraSkills,
  type MastraStep,
  type MastraStepSettings,
  type MastraTool,
  mastraSkills,
  type OffersSkills,
} from "@metier/runtime/adapters";

checkHostVersion("mastra");
