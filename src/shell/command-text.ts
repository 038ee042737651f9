/** What a command's text may be made of at all, before anyone parses it: nothing that a reader or a parser could take for something else. */
import { nameCodePoint } from "../foundation/hidden-characters.ts";

const MAX_LENGTH = 16_384;
/** All but tab and line feed; a carriage return is among them. */
const CONTROL = /[\x00-\x08\x0B-\x1F\x7F-\x9F]/;
/** Blanks that are no blank to a shell, invisible and bidirectional characters, halves of characters. */
const DECEIVING = /(?! )[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u;

/** Why the text is not even parsed; `undefined` when it may be. */
export function checkCommandText(text: string): string | undefined {
  if (text.length > MAX_LENGTH) {
    return `it has ${text.length} characters; at most ${MAX_LENGTH} are checked`;
  }
  const found = CONTROL.exec(text) ?? DECEIVING.exec(text.replace(/[\t\n]/g, " "));
  return found === null ? undefined : `it has the character ${nameCodePoint(found[0])}`;
}
