/**
 * The input of a call as an approver sees it: whole, or cut and said to be. Nobody can approve what they were not shown, so
 * whoever cuts it tells, and the answer is held to that.
 */
import type { Json } from "@metier/base/json";
import { NESTED_TOO_DEEPLY } from "@metier/run/events";

/** Of an input, as JSON. */
const MOST_CHARACTERS = 256 * 1024;

interface ShownInput {
  /** As it is, or the beginning of its JSON with a remark. */
  readonly input: Json;
  readonly isCut: boolean;
}

/** What redaction and projection could not follow to its end stands in it as a text of theirs. */
export function showInput(input: Json): ShownInput {
  const text = JSON.stringify(input);
  if (text.length <= MOST_CHARACTERS)
    return { input, isCut: text.includes(JSON.stringify(NESTED_TOO_DEEPLY)) };
  const remark = `[cut: the input has ${text.length} characters, and ${MOST_CHARACTERS} are shown]`;
  return { input: `${text.slice(0, MOST_CHARACTERS).toWellFormed()}… ${remark}`, isCut: true };
}
