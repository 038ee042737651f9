/**
 * Schemas from an embedding program: from any Standard Schema library (zod, valibot, arktype …), or JSON Schema
 * objects. Each is read once, into what a model is shown and what checks a value.
 */
import { UsageError } from "@metier/base/errors";
import { checkJson, isJsonObject, type Json, type JsonSchema } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { FromSchema } from "@metier/sandbox";

/**
 * A schema from a library that follows [Standard Schema](https://standardschema.dev), such as zod, valibot or arktype.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the standard requires of the library; not for programs. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The outcome of validating a value: the typed value, or what is wrong with it. */
export type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem with a value, and where. */
export interface StandardIssue {
  /** What is wrong. */
  readonly message: string;
  /** Keys down to the value; absent or empty for the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema for `defineTool` and `run`: a Standard Schema, or a JSON Schema. */
export type GivenSchema = StandardSchema | JsonSchema;

/** The type of a schema's output values: after its defaults and transforms. */
export type SchemaOutput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromSchema<Schema>;

/** The type of a schema's input values: before its defaults and transforms. */
export type SchemaInput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : FromSchema<Schema>;

/**
 * Gives a schema its JSON Schema, if its library has no converter: zod 3, or valibot without `toStandardJsonSchema`.
 *
 * @example
 * ```ts
 * const input = withJsonSchema(schema, toJsonSchema(schema)); // `toJsonSchema` of `@valibot/to-json-schema`
 * ```
 */
export function withJsonSchema<Schema extends StandardSchema>(
  schema: Schema,
  jsonSchema: object,
): StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>> {
  const { vendor, validate } = schema["~standard"];
  const convert = (): object => jsonSchema;
  const standard = { version: 1, vendor, validate, jsonSchema: { input: convert, output: convert } } as const;
  return { "~standard": standard } as StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>>;
}

/** A schema that was read. */
export interface ReadSchema {
  /** What a model is shown: the type it must write. */
  readonly json: JsonSchema;
  /** The value as the schema returns it, or what is wrong with it. Never throws. */
  read(value: unknown): Promise<Result<unknown, string>>;
}

/** By the schema itself: a program passes the same one to thousands of runs. */
const known = new WeakMap<object, ReadSchema>();

/** Throws `UsageError` for anything that isn't a schema, or has no JSON Schema. `what`: its name in messages. */
export function readSchema(given: unknown, what: string): ReadSchema {
  const isObject = (typeof given === "object" && given !== null) || typeof given === "function";
  if (!isObject) throw new UsageError(`${what} is ${showValue(given)}, not a schema.`, { hint: HINT });
  const before = known.get(given);
  if (before !== undefined) return before;
  const read = "~standard" in given ? readStandard(given, what) : readJsonSchema(given, what);
  known.set(given, read);
  return read;
}

const HINT = "Pass a Standard Schema, such as one from zod, valibot or arktype, or a JSON Schema object.";

function readStandard(given: object, what: string): ReadSchema {
  const { "~standard": standard } = given as { readonly "~standard": unknown };
  if (!isJsonObject(standard) || typeof standard.validate !== "function") {
    throw new UsageError(`${what} has a \`~standard\` without \`validate\`.`, { hint: HINT });
  }
  const schema = given as StandardSchema;
  return {
    json: withoutDialect(toPlainSchema(convert(schema, what), what)),
    async read(value) {
      try {
        const outcome = await schema["~standard"].validate(value);
        return outcome.issues ? refused(describeIssues(outcome.issues)) : done(outcome.value);
      } catch (error) {
        return refused(`it could not be checked: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}

interface Converters {
  readonly "~standard": {
    readonly vendor?: unknown;
    readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => unknown };
  };
  /** For libraries that had a converter before the standard did: arktype, zod. */
  readonly toJsonSchema?: () => unknown;
  readonly toJSONSchema?: (options: { readonly io: "input" }) => unknown;
}

function convert(schema: StandardSchema, what: string): unknown {
  const given = schema as unknown as Converters;
  const { jsonSchema, vendor } = given["~standard"];
  try {
    if (typeof jsonSchema?.input === "function") return jsonSchema.input({ target: "draft-2020-12" });
    if (typeof given.toJsonSchema === "function") return given.toJsonSchema();
    if (typeof given.toJSONSchema === "function") return given.toJSONSchema({ io: "input" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const hint = "A model writes JSON: describe that JSON, and convert it in the schema's transform.";
    throw new UsageError(`${what} cannot be converted to JSON Schema for a model: ${reason}`, {
      hint,
      cause,
    });
  }
  throw new UsageError(
    `${what} is a schema from ${showValue(vendor)} that does not provide its JSON Schema.`,
    {
      hint:
        vendor === "valibot"
          ? "Wrap it with `toStandardJsonSchema(schema)` from `@valibot/to-json-schema`."
          : "Update the library, or add the JSON Schema with `withJsonSchema(schema, jsonSchema)`.",
    },
  );
}

function readJsonSchema(given: object, what: string): ReadSchema {
  if (typeof given === "function" || Array.isArray(given)) {
    throw new UsageError(`${what} is a ${Array.isArray(given) ? "list" : "function"}, not a schema.`, {
      hint: HINT,
    });
  }
  const [shape] = Object.entries(given).find(([, value]) => isStandard(value)) ?? [];
  if (shape !== undefined) {
    throw new UsageError(`${what} is an object of schemas: ${showValue(shape)} is one.`, {
      hint: "Combine them into one schema, such as `z.object({ … })`.",
    });
  }
  const json = toPlainSchema(given, what);
  return {
    json,
    async read(value) {
      const checked = await checkJson(json, value);
      return checked.ok ? done(checked.value) : refused(checked.message);
    },
  };
}

function isStandard(value: unknown): boolean {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value
  );
}

/** For a schema that only a model reads: the draft means nothing to it. */
function withoutDialect({ $schema: _, ...rest }: JsonSchema): JsonSchema {
  return rest;
}

function toPlainSchema(schema: unknown, what: string): JsonSchema {
  let copy: Json | undefined;
  try {
    copy = JSON.parse(JSON.stringify(schema) ?? "null") as Json;
  } catch (cause) {
    throw new UsageError(`The JSON Schema of ${what} is not JSON.`, { hint: HINT, cause });
  }
  if (!isJsonObject(copy))
    throw new UsageError(`${what} has a JSON Schema that is not an object.`, { hint: HINT });
  return copy;
}

const MOST_ISSUES = 5;
const MAX_ISSUE = 300;

/** `city: expected a string; days[0]: too large`. */
function describeIssues(issues: readonly StandardIssue[]): string {
  const shown = issues.slice(0, MOST_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((part) => (typeof part === "object" ? part.key : part)).reduce(joinKey, "");
    // Some libraries already name the place in the message.
    const text = place === "" || message.includes(place) ? message : `${place}: ${message}`;
    return text.length > MAX_ISSUE ? `${text.slice(0, MAX_ISSUE)}…` : text;
  });
  const more = issues.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function joinKey(parent: string, key: PropertyKey): string {
  if (typeof key === "number") return `${parent}[${key}]`;
  return parent === "" ? String(key) : `${parent}.${String(key)}`;
}
