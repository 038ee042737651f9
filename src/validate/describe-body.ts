/** A description for a skill that has none: the first paragraph of its body, or its heading. */
import { MAX_DESCRIPTION_LENGTH } from "../skill/manifest-fields.ts";

const MAX_LOOKED_AT = 4096;

export function describeBody(body: string): string {
  const blocks = body.slice(0, MAX_LOOKED_AT).split(/\n\s*\n/);
  const paragraph = blocks.find((block) => /^[\p{L}\p{N}*_"'([]/u.test(block.trim()));
  const text = paragraph ?? blocks[0]?.replace(/^[#\s]+/, "") ?? "";
  return text.replace(/\s+/g, " ").trim().slice(0, MAX_DESCRIPTION_LENGTH);
}
