/**
 * The types of config values. A type reads a file's value, and converts the text of an environment variable or the
 * command line to what a file would contain.
 */
import { isAbsolute, normalize } from "node:path";
import type { JsonSchema } from "@metier/base/json";
import { isLoopbackHost } from "@metier/base/net";
import { expandPath } from "@metier/base/places";
import { isScope, SCOPES, type Scope } from "../skill/skill-name.ts";
import type { EnvironmentValue, KeychainEntry, McpServer } from "./config.ts";

const TEXT_SCHEMA: JsonSchema = { type: "string", minLength: 1 };
const ITEM_SCHEMA: JsonSchema = { type: ["string", "number"] };
/** A single string counts as a list of one. */
const TEXTS_SCHEMA: JsonSchema = { anyOf: [{ type: "array", items: ITEM_SCHEMA }, ITEM_SCHEMA] };
const COMMAND_SCHEMA: JsonSchema = {
  anyOf: [TEXT_SCHEMA, { type: "array", minItems: 1, items: { type: "string" } }],
};
const VARIABLE_SCHEMA: JsonSchema = {
  anyOf: [
    { type: ["string", "number", "boolean"] },
    {
      type: "object",
      properties: {
        value: { type: ["string", "number", "boolean"] },
        command: COMMAND_SCHEMA,
        keychain: { type: "string", pattern: "^[^/]+/.+$" },
        secret: { type: "boolean" },
      },
      additionalProperties: false,
    },
  ],
};

/** What `~` and relative paths mean for a value. */
export interface ReadContext {
  readonly home: string;
  readonly base: string;
}

export interface ValueType {
  /** What is allowed, for messages. */
  readonly allowed: string;
  /** The same for editors. Absent: anything. */
  readonly schema?: JsonSchema;
  /** The normalized value, or `undefined` if it is not allowed. */
  read(raw: unknown, context: ReadContext): unknown;
  /** What a file would contain; nonsense is passed to `read`, which rejects it. */
  fromText(text: string): unknown;
}

/** A type whose values are exactly `Value`: what the table compares with `Config`. */
export interface ValueTypeOf<in out Value> extends ValueType {
  read(raw: unknown, context: ReadContext): Value | undefined;
}

export const BOOLEAN: ValueTypeOf<boolean> = {
  allowed: "`true` or `false`",
  schema: { type: "boolean" },
  read: (raw) => (typeof raw === "boolean" ? raw : undefined),
  fromText: (text) => BOOLEAN_WORDS.get(text.trim().toLowerCase()) ?? text,
};

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);

export const TEXT: ValueTypeOf<string> = {
  allowed: "a non-empty string",
  schema: TEXT_SCHEMA,
  read: readConfigText,
  fromText: (text) => text,
};

/** It must not contain credentials: its users do not pass them on. */
export const WEB_ADDRESS: ValueTypeOf<string> = {
  allowed: "an `https:` or `http:` URL without a user name or password",
  schema: { type: "string", pattern: "^https?:" },
  read: (raw) => {
    const url = URL.parse(readConfigText(raw) ?? "");
    const isPlain =
      url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
    return isPlain ? url.href : undefined;
  },
  fromText: (text) => text,
};

/** A whole number between two bounds. */
export function integer(least: number, most: number, unit: string): ValueTypeOf<number> {
  return {
    allowed: `a whole number of ${unit} from ${least} to ${most}`,
    schema: { type: "integer", minimum: least, maximum: most },
    read: (raw) =>
      typeof raw === "number" && Number.isInteger(raw) && raw >= least && raw <= most ? raw : undefined,
    fromText: (text) => (/^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : text),
  };
}

export const PRICE: ValueTypeOf<number> = {
  allowed: "a non-negative number",
  schema: { type: "number", minimum: 0 },
  read: (raw) => (typeof raw === "number" && Number.isFinite(raw) && raw >= 0 ? raw : undefined),
  fromText: (text) => (/^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : text),
};

export function oneOf<const Choice extends string>(...values: readonly Choice[]): ValueTypeOf<Choice> {
  return {
    allowed: values.map((value) => `\`${value}\``).join(", "),
    schema: { enum: [...values] },
    read: (raw) => values.find((value) => value === raw),
    fromText: (text) => text.trim(),
  };
}

export const TEXTS: ValueTypeOf<readonly string[]> = {
  allowed: "a list of strings",
  schema: TEXTS_SCHEMA,
  read: readTexts,
  fromText: textToList,
};

/** One allow list; kept as a list of lists, because tightening adds a list instead of merging globs. */
export type AllowLists = readonly (readonly string[])[];

export const ALLOW_LISTS: ValueTypeOf<AllowLists> = {
  ...TEXTS,
  read: (raw) => {
    const texts = readTexts(raw);
    return texts && (texts.length > 0 ? [texts] : []);
  },
};

export const PATH: ValueTypeOf<string> = {
  allowed: "a path",
  schema: TEXT_SCHEMA,
  read: (raw, { home, base }) => {
    const text = readConfigText(raw);
    return text && expandPath(text, home, base);
  },
  fromText: (text) => text,
};

export const PATHS: ValueTypeOf<readonly string[]> = {
  allowed: "a list of paths",
  schema: TEXTS_SCHEMA,
  read: (raw, { home, base }) => readTexts(raw)?.map((path) => expandPath(path, home, base)),
  fromText: textToList,
};

/** Relative ones stay relative: they apply to each project folder. */
export const PROJECT_PATHS: ValueTypeOf<readonly string[]> = {
  allowed: "a list of paths",
  schema: TEXTS_SCHEMA,
  read: (raw, { home }) =>
    readTexts(raw)?.map((path) =>
      path.startsWith("~") || isAbsolute(path) ? expandPath(path, home, home) : normalize(path),
    ),
  fromText: textToList,
};

/** Unnamed scopes come first (lowest), in their default order. */
export const SCOPE_ORDER: ValueTypeOf<readonly Scope[]> = {
  allowed: `a list of ${SCOPES.join(", ")}, lowest precedence first, without duplicates`,
  schema: TEXTS_SCHEMA,
  read: (raw) => {
    const named = readTexts(raw);
    if (!named?.every(isScope) || new Set(named).size < named.length) return undefined;
    return [...SCOPES.filter((scope) => !named.includes(scope)), ...named];
  },
  fromText: textToList,
};

export const COMMAND: ValueTypeOf<readonly string[]> = {
  allowed: "a program and its arguments, as a list of strings or one string",
  schema: COMMAND_SCHEMA,
  read: readCommand,
  fromText: (text) => (text.trimStart().startsWith("[") ? parseJson(text) : text),
};

/** A user's program to start: as above, and a path instead of its name is resolved like other paths. */
export const PROGRAM: ValueTypeOf<readonly string[]> = { ...COMMAND, read: readProgram };

/** A server that listens: on this machine, or behind a certificate. */
export const SERVER_ADDRESS: ValueTypeOf<string> = {
  ...WEB_ADDRESS,
  allowed: "the `https:` URL of a server without a user name or password (`http:` only on this machine)",
  read: (raw, context) => {
    const url = WEB_ADDRESS.read(raw, context);
    return url !== undefined && (url.startsWith("https:") || isLoopbackHost(new URL(url).hostname))
      ? url
      : undefined;
  },
};

/** A program to start, or a server that listens. */
export const MCP_SERVER: ValueTypeOf<McpServer> = {
  ...COMMAND,
  allowed: `${COMMAND.allowed}, or the \`https:\` URL of a server (\`http:\` only on this machine)`,
  read: (raw, context) => {
    const text = readConfigText(raw);
    if (text !== undefined && /^https?:/i.test(text)) {
      const url = SERVER_ADDRESS.read(text, context);
      return url === undefined ? undefined : { url };
    }
    const command = readProgram(raw, context);
    return command && { command };
  },
};

/** A variable in one skill's environment: secret unless it says otherwise. */
export const ENVIRONMENT_VALUE: ValueTypeOf<EnvironmentValue> = {
  allowed:
    'a string, or `{ value = "…" }`, `{ command = ["program", "argument"] }` or `{ keychain = "service/account" }`, each also with `secret = false`',
  schema: VARIABLE_SCHEMA,
  read: (raw) => {
    const { secret = true, ...source } = isTable(raw) ? raw : { value: raw };
    const [key = "", ...others] = Object.keys(source);
    const read = Object.hasOwn(VARIABLE_SOURCES, key) ? VARIABLE_SOURCES[key] : undefined;
    const found = others.length === 0 ? read?.(source[key]) : undefined;
    return found && typeof secret === "boolean" ? { ...found, secret } : undefined;
  },
  fromText: (text) => text,
};

type VariableSource = { value: string } | { command: readonly string[] } | { keychain: KeychainEntry };

const VARIABLE_SOURCES: Readonly<Record<string, (raw: unknown) => VariableSource | undefined>> = {
  value: (raw) =>
    typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean"
      ? { value: String(raw) }
      : undefined,
  command: (raw) => {
    const command = readCommand(raw);
    return command && { command };
  },
  keychain: (raw) => {
    const [, service, account] = (typeof raw === "string" && /^([^/]+)\/(.+)$/s.exec(raw)) || [];
    return service && account ? { keychain: { service, account } } : undefined;
  },
};

/** A plain object, which TOML calls a table. */
export function isTable(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}

function readCommand(raw: unknown): readonly string[] | undefined {
  const words = typeof raw === "string" ? splitCommand(raw) : raw;
  const sound = Array.isArray(words) && words.every((word) => typeof word === "string") && words[0];
  return sound ? [...words] : undefined;
}

function readProgram(raw: unknown, { home, base }: ReadContext): readonly string[] | undefined {
  const [program = "", ...args] = readCommand(raw) ?? [];
  if (program === "") return undefined;
  const isPath = program.includes("/") || program === "~";
  return [isPath ? expandPath(program, home, base) : program, ...args];
}

export function readConfigText(raw: unknown): string | undefined {
  return typeof raw === "string" && raw.trim() !== "" ? raw.trim() : undefined;
}

/** A single string counts as a list of one; numbers (chat ids) become strings; blank entries are dropped. */
function readTexts(raw: unknown): readonly string[] | undefined {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (!items.every((item) => typeof item === "string" || typeof item === "number")) return undefined;
  return items.map((item) => String(item).trim()).filter((item) => item !== "");
}

/** `["a", "b"]` or `a, b`. */
function textToList(text: string): unknown {
  if (text.trimStart().startsWith("[")) return parseJson(text);
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** For a text that must be JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No type allows this, so the caller learns what is allowed.
  }
}

const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g;
const PART = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/g;

/**
 * A command in one string: words separated by spaces, quotes keep spaces together, nothing else is special. `undefined`
 * if a quote is not closed.
 */
export function splitCommand(text: string): readonly string[] | undefined {
  if (text.replace(WORD, "").trim() !== "") return undefined;
  return (text.match(WORD) ?? []).map((word) =>
    word.replace(
      PART,
      (_, double?: string, single?: string, escaped?: string, plain?: string) =>
        double?.replace(/\\(.)/g, "$1") ?? single ?? escaped ?? plain ?? "",
    ),
  );
}
