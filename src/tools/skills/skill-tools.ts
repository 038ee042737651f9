/** Skills for a model that has no file system: the text for its system prompt and the tools it gets. */
import { type Conversation, createConversation } from "../../disclose/conversation.ts";
import type { TokenCounter } from "../../disclose/count-tokens.ts";
import { type ListingPlan, planListing } from "../../disclose/plan-listing.ts";
import { activationTool } from "./activation-tool.ts";
import { findSkillsTool } from "./find-skills.ts";
import { listSkillsTool } from "./list-skills.ts";
import { readSkillFileTool } from "./read-skill-file.ts";
import type { SkillLibrary, SkillTool } from "./skill-tool.ts";

export interface SkillToolsOptions {
  /** What the conversation was given already; keep it from turn to turn. Default: a new one. */
  readonly conversation?: Conversation;
  /** The most tokens `instructions` may have. Default: 10,000. */
  readonly budget?: number;
  /** Default: an estimate that is never too low; `loadTokenCounter` tells more skills in the same budget. */
  readonly countTokens?: TokenCounter;
}

export interface SkillTools {
  /** For the system prompt: which skills there are and how to use one. `""` when there are none. */
  readonly instructions: string;
  /** `find_skills` is among them when `instructions` cannot tell of all; there are none without skills. */
  readonly tools: readonly SkillTool[];
  /** What became of each skill in `instructions`. */
  readonly report: ListingPlan["report"];
}

const USUAL_BUDGET = 10_000;

export function skillTools(
  library: SkillLibrary,
  options: SkillToolsOptions = {},
  /** Of a host that can do more than give the text. */
  useSkill?: SkillTool,
): SkillTools {
  const { conversation = createConversation(), budget = USUAL_BUDGET, countTokens } = options;
  const skills = library.skills();
  const { text, report } = planListing(skills, {
    budget,
    location: "none",
    activation: "tool",
    ...(countTokens && { countTokens }),
  });
  if (skills.length === 0) return { instructions: "", tools: [], report };
  const isCut = report.nameOnly.length + report.counted.length > 0;
  const tools = [
    useSkill ?? activationTool(library, conversation),
    listSkillsTool(library),
    ...(isCut ? [findSkillsTool(library)] : []),
    readSkillFileTool(library),
  ];
  return { instructions: text, tools, report };
}
