/** Arguments as providers send them: JSON in a string, or an object that was parsed already. */
import type { ConversationCall } from "../run/conversation-tool.ts";
import type { SkillOffer } from "../run/offer-skills.ts";
import { fault, type ToolOutput } from "../tools/tool.ts";
import { showValue } from "../validate/report.ts";

/** Never throws: text that is no JSON is answered like any other wrong input. */
export async function callWithText(
  offer: Pick<SkillOffer, "call">,
  tool: string,
  given: unknown,
  call?: ConversationCall,
): Promise<ToolOutput> {
  if (typeof given !== "string") return offer.call(tool, given ?? {}, call);
  // Some providers send nothing at all for a call without arguments.
  if (given.trim() === "") return offer.call(tool, {}, call);
  let input: unknown;
  try {
    input = JSON.parse(given);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fault(
      `The arguments of ${showValue(tool)} must be a JSON object: ${why}. Call it again with valid JSON.`,
    );
  }
  return offer.call(tool, input, call);
}
