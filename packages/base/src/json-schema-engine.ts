/**
 * The validator behind `checkJson`, safe for untrusted schemas: references can't leave the schema, patterns run
 * without backtracking, slow checks are stopped, and faults are described in words.
 */
import { type Context, createContext, Script } from "node:vm";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { canonicalText, type Json, type JsonFault, type JsonSchema } from "./json.ts";
import { done, type Result, refused } from "./result.ts";
import { showNames, showValue } from "./text.ts";

/** If absent, `fault` says what is wrong with the schema. */
export type CompiledSchema = Result<(value: unknown) => SchemaOutcome, string>;

type SchemaOutcome = Result<{ readonly value: Json; readonly faults: readonly JsonFault[] }, string>;

const MAX_SCHEMA_CHARACTERS = 64 * 1024;
/** The limit for compiling, and again for each check. Honest schemas take milliseconds. */
const MAX_TIME_MS = 5000;

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  verbose: true, // Messages name the value and what is allowed.
  useDefaults: true,
  ownProperties: true, // Inherited properties aren't part of a value.
  validateFormats: false,
  inlineRefs: false,
  addUsedSchema: false,
  logger: false,
  code: { regExp: Object.assign(compilePattern, { code: "compilePattern" }) },
};

export function compileSchema(schema: JsonSchema): CompiledSchema {
  const size = JSON.stringify(schema).length;
  if (size > MAX_SCHEMA_CHARACTERS) {
    return refused(`it has ${size} characters; the limit is ${MAX_SCHEMA_CHARACTERS} characters`);
  }
  const { $schema: dialect, ...rest } = schema;
  const engine = chooseEngine(dialect);
  if (typeof engine === "string") return refused(engine);
  if (JSON.stringify(rest).includes('"$async"')) return refused("`$async` is not supported");
  try {
    const validate = withinTime(() => compileWith(engine, rest));
    const watch = isQuick(rest) ? runFreely : withinTime;
    return done((value) => checkWith(validate, value, watch));
  } catch (error) {
    return refused(describeThrown(error));
  }
}

type Engine = (options: Options) => Ajv;

const ENGINES: readonly { readonly dialect: RegExp; readonly create: Engine }[] = [
  {
    dialect: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
    create: (options) => new Ajv2020(options),
  },
  { dialect: /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, create: (options) => new Ajv(options) },
];

/** The engine for the dialect in `$schema`, or what is wrong with it. */
function chooseEngine(dialect: Json | undefined): Engine | string {
  const name = dialect ?? "https://json-schema.org/draft/2020-12/schema";
  const engine = ENGINES.find((entry) => typeof name === "string" && entry.dialect.test(name));
  return engine?.create ?? `\`$schema\` is ${showValue(name)}; draft 2020-12 and draft-07 are supported`;
}

function compileWith(create: Engine, schema: JsonSchema): ValidateFunction {
  checkSchema(create, schema);
  return prepare(create, { validateSchema: false }).compile(schema);
}

/** A dialect's own schema takes far longer to compile than most schemas, so it is kept. */
const checkers = new Map<Engine, Ajv>();

function checkSchema(create: Engine, schema: JsonSchema): void {
  const checker = checkers.get(create) ?? prepare(create);
  checkers.delete(create); // A checker that was stopped for time is not used again.
  const isValid = checker.validateSchema(schema);
  checkers.set(create, checker);
  if (isValid !== true) throw new Error(`schema is invalid: ${checker.errorsText()}`);
}

function prepare(create: Engine, more: Options = {}): Ajv {
  const ajv = create({ ...OPTIONS, ...more });
  // The built-in one compares every item with every other.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (isWanted: boolean, items: readonly unknown[]) =>
      !isWanted || new Set(items.map(canonicalText)).size === items.length,
    error: { message: "must not contain the same item twice" },
  });
  return ajv;
}

function checkWith(validate: ValidateFunction, given: unknown, watch: Watch): SchemaOutcome {
  try {
    const value = copyValue(given) as Json;
    const errors = watch((): readonly ErrorObject[] => (validate(value) ? [] : (validate.errors ?? [])));
    return done({ value, faults: errors.map(describeSchemaError) });
  } catch (error) {
    return refused(describeThrown(error));
  }
}

/** `structuredClone` would cost more than everything else done with a tool call's input, so plain data avoids it. */
function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyValue);
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" || typeof value === "symbol" ? structuredClone(value) : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyValue(item)]));
}

const MAX_PATTERN_LENGTH = 1000;

function compilePattern(pattern: string): { test(text: string): boolean } {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(
      `a pattern has ${pattern.length} characters; the limit is ${MAX_PATTERN_LENGTH} characters`,
    );
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // Patterns are identified by their text.
    return Object.assign(Object.create({ toString: () => pattern }), {
      test: (text: string) => compiled.test(text),
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the pattern ${showValue(pattern)} is not supported (${reason})`, { cause });
  }
}

const MAX_QUICK_CHARACTERS = 8 * 1024;
/**
 * A reference can multiply the work, and a pattern takes its own time. A property named `pattern` isn't text and
 * doesn't count.
 */
const SLOW_KEYWORDS = /"(?:\$(?:ref|dynamicRef|recursiveRef)|patternProperties)":|"pattern":"/;

/** Without these, each part of the schema meets each part of the value at most once, which needs no time limit. */
function isQuick(schema: JsonSchema): boolean {
  const text = JSON.stringify(schema);
  return text.length <= MAX_QUICK_CHARACTERS && !SLOW_KEYWORDS.test(text);
}

type Watch = <Value>(work: () => Value) => Value;

/** A time limit starts a thread, which costs more than checking a tool's input. */
const runFreely: Watch = (work) => work();

interface Guard {
  readonly context: Context;
  readonly script: Script;
}

/** Made once: a context costs more than most checks. */
let guard: Guard | undefined;

/** Runs the work and stops it if it takes too long: the only way to interrupt synchronous code. */
function withinTime<Value>(work: () => Value): Value {
  guard ??= { context: createContext({ work: undefined }), script: new Script("work()") };
  const { context, script } = guard;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: MAX_TIME_MS }) as Value;
  } finally {
    context.work = undefined;
  }
}

function describeThrown(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return `checking it takes longer than ${MAX_TIME_MS} ms`;
  return message ?? String(error);
}

function describeSchemaError(error: ErrorObject): JsonFault {
  const { keyword, params, data, parentSchema = {} } = error;
  const field = fieldOf(error.instancePath);
  switch (keyword) {
    case "required":
      return about(joinField(field, params.missingProperty), "is missing");
    case "additionalProperties":
    case "unevaluatedProperties": {
      const known = Object.keys(parentSchema.properties ?? {});
      const allowed = known.length > 0 ? `allowed: ${showNames(known)}` : "nothing is allowed here";
      const name = params.additionalProperty ?? params.unevaluatedProperty;
      return about(joinField(field, name), `is unknown; ${allowed}`);
    }
    case "enum":
      return about(field, `is ${showValue(data)}; allowed: ${listValues(params.allowedValues)}`);
    case "const":
      return about(field, `is ${showValue(data)}; allowed: ${showValue(params.allowedValue)}`);
    case "type":
      return about(field, `is ${kindOf(data)}; allowed: ${[params.type].flat().join(" or ")}`);
    case "false schema":
      return about(field, "is not allowed");
    default:
      return about(field, `is ${showValue(data)}; it ${error.message ?? `does not fit \`${keyword}\``}`);
  }
}

function about(field: string, what: string): JsonFault {
  return { field, message: `${field === "" ? "it" : showValue(field)} ${what}` };
}

/** `/files/0/name` → `files[0].name` */
function fieldOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(joinField, "");
}

function joinField(parent: string, name: string): string {
  if (/^\d+$/.test(name)) return `${parent}[${name}]`;
  return parent === "" ? name : `${parent}.${name}`;
}

const MOST_VALUES = 20;

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MOST_VALUES).map(showValue);
  return [...shown, ...(values.length > MOST_VALUES ? ["…"] : [])].join(", ");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `the ${typeof value} ${showValue(value)}`;
}
