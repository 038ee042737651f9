/**
 * Holds a value to a JSON Schema, and puts in the schema's defaults. Schema and value may both come from someone nobody
 * trusts: a schema that is wrong, too large or too slow is a fault in the answer, never an exception. Loads the
 * validator on first use.
 */
import type { Json } from "../skill/manifest.ts";
import type { CompiledSchema } from "./json-schema-engine.ts";

export interface JsonFault {
  /** Where in the value: `files[0].name`; `""` for the value itself. */
  readonly field: string;
  /** What is wrong there, and what is allowed. */
  readonly message: string;
}

export type JsonCheck =
  | { readonly ok: true /** A copy, with defaults. */; readonly value: Json }
  | {
      readonly ok: false;
      /** All faults in one line. */
      readonly message: string;
      /** None when it is the schema that cannot be used. */
      readonly faults: readonly JsonFault[];
      readonly isSchemaFault: boolean;
    };

export type JsonSchema = Readonly<Record<string, Json>>;

/** By the schema object itself: those of tools and catalogs live as long as these do. */
const compiled = new WeakMap<JsonSchema, CompiledSchema>();
const MOST_FAULTS = 5;

/** Draft 2020-12, and draft-07 where `$schema` says so. */
export async function checkJson(schema: JsonSchema, value: unknown): Promise<JsonCheck> {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    const { compileSchema } = await import("./json-schema-engine.ts");
    validator = compileSchema(schema);
    compiled.set(schema, validator);
  }
  if (!validator.ok) return refuseSchema(validator.fault);
  const outcome = validator.check(value);
  if (!outcome.ok) return refuseSchema(outcome.fault);
  const { faults } = outcome;
  if (faults.length === 0) return { ok: true, value: outcome.value };
  return { ok: false, message: joinFaults(faults), faults, isSchemaFault: false };
}

function refuseSchema(fault: string): JsonCheck {
  return { ok: false, message: `the schema cannot be used: ${fault}`, faults: [], isSchemaFault: true };
}

function joinFaults(faults: readonly JsonFault[]): string {
  const shown = [...new Set(faults.map(({ message }) => message))];
  const more = shown.length - MOST_FAULTS;
  return [...shown.slice(0, MOST_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}
