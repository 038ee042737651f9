/** The input of an invocation, held to the skill's `input-schema`: defaults put in, faults told by field. */
import type { Json, SkillManifest } from "../skill/manifest.ts";
import { checkJson } from "../validate/json-schema.ts";

export type InputReading =
  | { readonly ok: true; readonly input?: Json }
  | { readonly ok: false; readonly message: string; readonly isSchemaFault: boolean };

/** A skill without a schema takes what it is given. */
export async function readInput(
  { inputSchema }: Pick<SkillManifest, "inputSchema">,
  given?: Json,
): Promise<InputReading> {
  if (inputSchema === undefined) return given === undefined ? { ok: true } : { ok: true, input: given };
  const checked = await checkJson(inputSchema, given === undefined ? {} : fromText(given));
  if (checked.ok) return { ok: true, input: checked.value };
  const { message, isSchemaFault } = checked;
  return { ok: false, message, isSchemaFault };
}

/** Models often send an object as its text; any other text is left for the schema to judge. */
function fromText(given: Json): Json {
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  try {
    return JSON.parse(given) as Json;
  } catch {
    return given; // The schema says what is allowed instead.
  }
}
