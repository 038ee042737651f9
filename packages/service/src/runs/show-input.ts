/**
 * A call's input as an approver sees it: whole, or cut and marked as such. Nobody can approve what they weren't shown,
 * so a cut is reported, and the answer is checked against that.
 */
import type { Json } from "@metier/base/json";
import { NESTED_TOO_DEEPLY } from "@metier/run/events";

/** Of an input, as JSON. */
const MOST_CHARACTERS = 256 * 1024;

interface ShownInput {
  /** Unchanged, or the start of its JSON with a note. */
  readonly input: Json;
  readonly isCut: boolean;
}

/** Parts that redaction and projection couldn't process are replaced by their own text. */
export function showInput(input: Json): ShownInput {
  const text = JSON.stringify(input);
  if (text.length <= MOST_CHARACTERS)
    return { input, isCut: text.includes(JSON.stringify(NESTED_TOO_DEEPLY)) };
  const remark = `[cut: showing ${MOST_CHARACTERS} of ${text.length} characters]`;
  return { input: `${text.slice(0, MOST_CHARACTERS).toWellFormed()}… ${remark}`, isCut: true };
}
