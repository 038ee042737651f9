/**
 * JSON values (`json-value.ts`), and checking one against a JSON Schema while filling in defaults. Both schema and
 * value may be untrusted: a schema that is wrong, too large or too slow is a fault in the result, never an exception.
 * The validator is loaded on first use.
 */
import { dropOldest } from "./bounded.ts";
import type { CompiledSchema } from "./json-schema-engine.ts";
import type { Json } from "./json-value.ts";
import { done, type Result, refused } from "./result.ts";

export { canonicalText, isJsonObject, type Json, type JsonObject, presentFields } from "./json-value.ts";

export interface JsonFault {
  /** The place in the value: `files[0].name`; `""` for the value itself. */
  readonly field: string;
  /** What is wrong there, and what is allowed. */
  readonly message: string;
}

type JsonCheck =
  | { readonly ok: true /** A copy, with defaults. */; readonly value: Json }
  | {
      readonly ok: false;
      /** All faults in one line. */
      readonly message: string;
      /** Empty if the schema itself can't be used. */
      readonly faults: readonly JsonFault[];
      readonly isSchemaFault: boolean;
    };

export type JsonSchema = Readonly<Record<string, Json>>;

/** By the schema object: schemas of tools and catalogs live as long as these do. */
const compiled = new WeakMap<JsonSchema, CompiledSchema>();
/** By text: tools made for one call or run bring the same schema each time. The oldest entry is dropped. */
const compiledTexts = new Map<string, CompiledSchema>();
const MOST_TEXTS = 200;
const LONGEST_TEXT = 16 * 1024;
const MOST_FAULTS = 5;

/** Draft 2020-12, or draft-07 if `$schema` says so. */
export async function checkJson(schema: JsonSchema, value: unknown): Promise<JsonCheck> {
  const validator = compiled.get(schema) ?? (await findValidator(schema));
  if (!validator.ok) return refuseSchema(validator.refusal);
  const outcome = validator.value(value);
  if (!outcome.ok) return refuseSchema(outcome.refusal);
  const { faults } = outcome.value;
  if (faults.length === 0) return { ok: true, value: outcome.value.value };
  return { ok: false, message: joinFaults(faults), faults, isSchemaFault: false };
}

async function findValidator(schema: JsonSchema): Promise<CompiledSchema> {
  const text = JSON.stringify(schema);
  let validator = compiledTexts.get(text);
  if (validator === undefined) {
    const { compileSchema } = await import("./json-schema-engine.ts");
    validator = compileSchema(schema);
    if (text.length <= LONGEST_TEXT) compiledTexts.set(text, validator);
    dropOldest(compiledTexts, MOST_TEXTS);
  }
  compiled.set(schema, validator);
  return validator;
}

function refuseSchema(fault: string): JsonCheck {
  return { ok: false, message: `the schema can't be used: ${fault}`, faults: [], isSchemaFault: true };
}

function joinFaults(faults: readonly JsonFault[]): string {
  const shown = [...new Set(faults.map(({ message }) => message))];
  const more = shown.length - MOST_FAULTS;
  return [...shown.slice(0, MOST_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/**
 * Finds the JSON value in a model's text: the whole text, its last code fence, or what is between its outermost
 * brackets.
 */
export function findJson(text: string): Result<unknown, string> {
  const whole = parse(text);
  if (whole.ok) return whole;
  // Every second part is inside a fence; its first line names the language.
  const inside = text.split("```").filter((_, index) => index % 2 === 1);
  const fences = inside.map((part) => part.slice(part.indexOf("\n") + 1)).reverse();
  const object = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  const list = text.slice(text.indexOf("["), text.lastIndexOf("]") + 1);
  const between = object.length >= list.length ? [object, list] : [list, object];
  for (const candidate of [...fences, ...between]) {
    const parsed = parse(candidate);
    if (parsed.ok) return parsed;
  }
  return text.trim() === "" ? refused("it is empty") : whole;
}

function parse(text: string): Result<unknown, string> {
  try {
    return done(JSON.parse(text));
  } catch (error) {
    return refused(`it is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}
