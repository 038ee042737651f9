/**
 * Turns a provider's answer into definitions, or one fault for all of it: a provider is registered completely or not at
 * all. Capabilities and operations are lists, or maps by name; keys are snake_case, kebab-case or camelCase.
 */
import { checkJson, isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { cleanText, compareText, showValue, spellingsOf } from "@metier/base/text";
import { isCapabilityId } from "@metier/skills";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityDefinition,
  type CapabilityOperation,
} from "./capability.ts";
import { readPlainObject } from "./plain-json.ts";

interface DefinitionsSource {
  readonly namespace: string;
  /** Whether the provider supports sign-ins. Without that, no operation can require one. */
  readonly canSignIn: boolean;
}

const MOST_CAPABILITIES = 200;
const MOST_OPERATIONS = 1_000;
const MOST_DESCRIPTION_CHARACTERS = 10_000;
const MOST_CHAT_TYPES = 50;
export const OPERATION_NAME: RegExp = /^[A-Za-z0-9_][\w.-]{0,127}$/;

/** A sentence that says what is wrong. Caught where reading started. */
class DefinitionFault extends Error {}

export async function readCapabilityDefinitions(
  raw: unknown,
  source: DefinitionsSource,
): Promise<Answer<readonly CapabilityDefinition[]>> {
  const plain = readPlainObject({ raw });
  try {
    if (!plain.ok) throw new DefinitionFault(`its answer ${plain.refusal}`);
    const definitions = readEntries(unwrap(plain.value.raw), "id", "definitions", MOST_CAPABILITIES).map(
      ([key, entry]) => readDefinition(key, entry, source),
    );
    refuseTwice(definitions.map(({ id }) => id));
    await compileSchemas(definitions);
    return answerWith(definitions.toSorted((a, b) => compareText(a.id, b.id)));
  } catch (error) {
    if (!(error instanceof DefinitionFault)) throw error;
    return answerFault(
      "capability_invalid_input",
      `Nothing from the provider \`${source.namespace}\` was registered: ${error.message}.`,
      { hint: "Fix its definitions." },
    );
  }
}

/** As a bridge answers: `{ "definitions": … }`. */
function unwrap(raw: Json | undefined): Json | undefined {
  if (!isJsonObject(raw)) return raw;
  const [[key, inner] = [], ...others] = Object.entries(raw);
  return key === "definitions" && others.length === 0 ? inner : raw;
}

type Entry = readonly [key: string | undefined, entry: JsonObject];

function readEntries(value: Json | undefined, nameKey: string, what: string, most: number): readonly Entry[] {
  const entries: readonly (readonly [string | undefined, Json])[] = Array.isArray(value)
    ? value.map((entry) => [undefined, entry] as const)
    : isJsonObject(value)
      ? Object.entries(value)
      : fail(
          `\`${what}\` is ${showValue(value ?? null)}; it must be a list, or a map keyed by \`${nameKey}\``,
        );
  if (entries.length > most) fail(`\`${what}\` has ${entries.length} entries; the limit is ${most}`);
  return entries.map(([key, entry]) =>
    isJsonObject(entry)
      ? [key, entry]
      : fail(`\`${what}\` contains ${showValue(entry)}; each entry must be an object`),
  );
}

function readDefinition(
  key: string | undefined,
  entry: JsonObject,
  { namespace, canSignIn }: DefinitionsSource,
): CapabilityDefinition {
  const id = readName(key, entry, "id");
  if (!isCapabilityId(id)) {
    fail(
      `the id ${showValue(id)} is not valid; an id is \`namespace.name\` in lowercase, such as \`${namespace}.mail\``,
    );
  }
  if (!id.startsWith(`${namespace}.`)) fail(`the id \`${id}\` does not start with \`${namespace}.\``);
  const description = readDescription(entry, `\`${id}\``);
  if (description === "") fail(`\`${id}\` has no description`);
  const operations = readEntries(field(entry, "operations"), "name", `operations of ${id}`, MOST_OPERATIONS)
    .map(([name, operation]) => readOperation(name, operation, id, canSignIn))
    .toSorted((a, b) => compareText(a.name, b.name));
  if (operations.length === 0) fail(`\`${id}\` has no operations; it needs at least one`);
  refuseTwice(operations.map(({ name }) => `${id} ${name}`));
  const allowedChatTypes = readChatTypes(entry, id);
  return presentFields({
    id,
    description,
    sensitive: readFlag(entry, "sensitive", `\`${id}\``, false),
    allowedChatTypes: allowedChatTypes.length > 0 ? allowedChatTypes : undefined,
    operations,
  });
}

function readOperation(
  key: string | undefined,
  entry: JsonObject,
  id: string,
  canSignIn: boolean,
): CapabilityOperation {
  const name = readName(key, entry, "name");
  if (!OPERATION_NAME.test(name)) {
    fail(`\`${id}\` has an operation named ${showValue(name)}; use letters, digits, \`_\`, \`.\` and \`-\``);
  }
  const where = `the operation \`${name}\` of \`${id}\``;
  const requiresAuth = readFlag(entry, "requires-auth", where, canSignIn);
  if (requiresAuth && !canSignIn) fail(`${where} requires a sign-in, but the provider offers none`);
  return presentFields({
    name,
    description: readDescription(entry, where),
    requiresAuth,
    mutating: readFlag(entry, "mutating", where, false),
    idempotent: readFlag(entry, "idempotent", where, false),
    inputSchema: readSchema(entry, "input-schema", where),
    outputSchema: readSchema(entry, "output-schema", where),
  });
}

/** In a map the key names the entry; an entry that names itself must say the same. */
function readName(key: string | undefined, entry: JsonObject, nameKey: "id" | "name"): string {
  const own = field(entry, nameKey) ?? key;
  if (typeof own !== "string") return fail(`an entry has no \`${nameKey}\` string`);
  if (key !== undefined && key !== own) {
    fail(`the entry ${showValue(key)} has the \`${nameKey}\` ${showValue(own)}; both must be the same`);
  }
  return own;
}

/** Goes to models, so invisible characters are removed. */
function readDescription(entry: JsonObject, where: string): string {
  const value = field(entry, "description") ?? "";
  if (typeof value !== "string")
    return fail(`the description of ${where} is ${showValue(value)}; it must be a string`);
  if (value.length > MOST_DESCRIPTION_CHARACTERS) {
    fail(
      `the description of ${where} has ${value.length} characters; the limit is ${MOST_DESCRIPTION_CHARACTERS}`,
    );
  }
  return cleanText(value).text.trim();
}

function readFlag(entry: JsonObject, key: string, where: string, fallback: boolean): boolean {
  const value = field(entry, key) ?? fallback;
  return typeof value === "boolean"
    ? value
    : fail(`\`${key}\` of ${where} is ${showValue(value)}; it must be true or false`);
}

function readChatTypes(entry: JsonObject, id: string): readonly string[] {
  const value = field(entry, "allowed-chat-types") ?? [];
  const types = Array.isArray(value) ? value : [undefined];
  if (
    types.length > MOST_CHAT_TYPES ||
    !types.every((type) => typeof type === "string" && type.trim() !== "")
  ) {
    fail(
      `\`allowed-chat-types\` of \`${id}\` is ${showValue(value)}; it must be a list of at most ${MOST_CHAT_TYPES} chat types`,
    );
  }
  return [...new Set((types as readonly string[]).map((type) => type.trim().toLowerCase()))];
}

function readSchema(entry: JsonObject, key: string, where: string): JsonObject | undefined {
  const value = field(entry, key);
  if (value === undefined) return undefined;
  return isJsonObject(value)
    ? value
    : fail(`\`${key}\` of ${where} is ${showValue(value)}; it must be an object`);
}

/** Compiled now, so that an unusable schema is found before anyone relies on it. */
async function compileSchemas(definitions: readonly CapabilityDefinition[]): Promise<void> {
  for (const { id, operations } of definitions) {
    for (const { name, inputSchema, outputSchema } of operations) {
      for (const [key, schema] of Object.entries({ inputSchema, outputSchema })) {
        const check = schema && (await checkJson(schema, {}));
        if (check && !check.ok && check.isSchemaFault) {
          fail(`\`${key}\` of the operation \`${name}\` of \`${id}\`: ${check.message}`);
        }
      }
    }
  }
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) fail(`\`${twice}\` is defined twice`);
}

/** Some write `null` for an absent value. */
function field(entry: JsonObject, key: string): Json | undefined {
  for (const spelling of spellingsOf(key)) {
    const value = Object.hasOwn(entry, spelling) ? entry[spelling] : undefined;
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function fail(problem: string): never {
  throw new DefinitionFault(problem);
}
