/** What a tool gave, as text for the model: a text as it is, anything else as JSON. A long one goes whole to a file. */
import type { Json } from "../../skill/manifest.ts";
import { createOutputPager } from "../page-output.ts";
import type { ToolContext } from "../tool.ts";

const MAX_CHARACTERS = 30_000;

export function showResult(value: Json, { world, callId, redactStream }: ToolContext): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return text;
  const options = { world, callId, maxCharacters: MAX_CHARACTERS, ...(redactStream && { redactStream }) };
  const pager = createOutputPager(options);
  pager.take("stdout", Buffer.from(text));
  const { stdout, notes } = pager.end();
  const left = stdout.characters - stdout.head.length;
  return [...notes, stdout.head, `[… ${left} characters left out …]`].join("\n");
}
