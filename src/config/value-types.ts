/**
 * What a config value may be. A type reads the value of a file, and turns the text of an environment variable
 * or of the command line into what a file would hold.
 */
import { isAbsolute, normalize } from "node:path";
import { toKebabCase } from "../foundation/spelling.ts";
import { expandPath } from "../host/places.ts";
import { isScope, SCOPES } from "../skill/scope.ts";
import type { EnvironmentValue, KeychainEntry, McpServer, PluginEntry } from "./config.ts";
import { PLUGIN_SOURCES } from "./plugin-entry.ts";
import { splitCommand } from "./split-command.ts";

/** What `~` and relative paths mean for a value. */
export interface ReadContext {
  readonly home: string;
  readonly base: string;
}

export interface ValueType {
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  /** The normalised value, or `undefined` when it is not allowed. */
  read(raw: unknown, context: ReadContext): unknown;
  /** What a file would hold; what makes no sense is given to `read` all the same, which does not allow it. */
  fromText(text: string): unknown;
}

export const BOOLEAN: ValueType = {
  allowed: "`true` or `false`",
  read: (raw) => (typeof raw === "boolean" ? raw : undefined),
  fromText: (text) => BOOLEAN_WORDS.get(text.trim().toLowerCase()) ?? text,
};

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);

export const TEXT: ValueType = {
  allowed: "a text that is not empty",
  read: readText,
  fromText: (text) => text,
};

/** Credentials have no place in it: whoever uses it does not pass them on. */
export const WEB_ADDRESS: ValueType = {
  allowed: "an `https:` or `http:` URL without user name and password",
  read: (raw) => {
    const url = URL.parse(readText(raw) ?? "");
    const isPlain =
      url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
    return isPlain ? url.href : undefined;
  },
  fromText: (text) => text,
};

/** A whole number between two bounds. */
export function integer(least: number, most: number, unit: string): ValueType {
  return {
    allowed: `a whole number of ${unit} from ${least} to ${most}`,
    read: (raw) => (Number.isInteger(raw) && Number(raw) >= least && Number(raw) <= most ? raw : undefined),
    fromText: (text) => (/^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : text),
  };
}

export const PRICE: ValueType = {
  allowed: "a number that is not negative",
  read: (raw) => (typeof raw === "number" && Number.isFinite(raw) && raw >= 0 ? raw : undefined),
  fromText: (text) => (/^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : text),
};

export function oneOf(...values: readonly string[]): ValueType {
  return {
    allowed: values.map((value) => `\`${value}\``).join(", "),
    read: (raw) => (typeof raw === "string" && values.includes(raw) ? raw : undefined),
    fromText: (text) => text.trim(),
  };
}

export const TEXTS: ValueType = {
  allowed: "a list of texts",
  read: readTexts,
  fromText: textToList,
};

/** One allow list; kept as a list of lists, because tightening adds a list instead of merging globs. */
export const ALLOW_LISTS: ValueType = {
  ...TEXTS,
  read: (raw) => {
    const texts = readTexts(raw);
    return texts && (texts.length > 0 ? [texts] : []);
  },
};

export const PATH: ValueType = {
  allowed: "a path",
  read: (raw, { home, base }) => {
    const text = readText(raw);
    return text && expandPath(text, home, base);
  },
  fromText: (text) => text,
};

export const PATHS: ValueType = {
  allowed: "a list of paths",
  read: (raw, { home, base }) => readTexts(raw)?.map((path) => expandPath(path, home, base)),
  fromText: textToList,
};

/** Relative ones stay relative: they are looked for below each project folder. */
export const PROJECT_PATHS: ValueType = {
  allowed: "a list of paths",
  read: (raw, { home }) =>
    readTexts(raw)?.map((path) =>
      path.startsWith("~") || isAbsolute(path) ? expandPath(path, home, home) : normalize(path),
    ),
  fromText: textToList,
};

/** Scopes that are not named come first, that is lowest, in their default order. */
export const SCOPE_ORDER: ValueType = {
  allowed: `a list of ${SCOPES.join(", ")}, lowest precedence first, none twice`,
  read: (raw) => {
    const named = readTexts(raw);
    if (!named?.every(isScope) || new Set(named).size < named.length) return undefined;
    return [...SCOPES.filter((scope) => !named.includes(scope)), ...named];
  },
  fromText: textToList,
};

export const COMMAND: ValueType = {
  allowed: "a program and its arguments, as a list of texts or as one text",
  read: readCommand,
  fromText: (text) => (text.trimStart().startsWith("[") ? parseJson(text) : text),
};

/** A program of the user's that is started: as above, and a path in place of its name means what paths mean here. */
export const PROGRAM: ValueType = { ...COMMAND, read: readProgram };

/** A server that listens: on this machine, or behind a certificate. */
export const SERVER_ADDRESS: ValueType = {
  ...WEB_ADDRESS,
  allowed: "the `https:` URL of a server without user name and password, `http:` on this machine alone",
  read: (raw, context) => {
    const url = WEB_ADDRESS.read(raw, context) as string | undefined;
    return url !== undefined && (url.startsWith("https:") || isLoopback(url)) ? url : undefined;
  },
};

/** A program that is started, or a server that listens. */
export const MCP_SERVER: ValueType = {
  ...COMMAND,
  allowed: `${COMMAND.allowed}, or the \`https:\` URL of a server, \`http:\` on this machine alone`,
  read: (raw, context): McpServer | undefined => {
    const text = readText(raw);
    if (text !== undefined && /^https?:/i.test(text)) {
      const url = SERVER_ADDRESS.read(text, context) as string | undefined;
      return url === undefined ? undefined : { url };
    }
    const command = readProgram(raw, context);
    return command && { command };
  },
};

function isLoopback(url: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname);
}

/** A variable of one skill's environment: secret unless it says otherwise. */
export const ENVIRONMENT_VALUE: ValueType = {
  allowed:
    'a text, or `{ value = "…" }`, `{ command = ["program", "argument"] }` or `{ keychain = "service/account" }`, each also with `secret = false`',
  read: (raw): EnvironmentValue | undefined => {
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

export const PLUGINS: ValueType = {
  allowed:
    "a list of addresses, or of tables with exactly one of `url`, `repo` and `path`, and optionally `ref` (not with `path`), `name`, `enabled`, `installed-at`",
  read: (raw, context) => {
    const entries = Array.isArray(raw) ? raw.map((entry) => readPlugin(entry, context)) : undefined;
    return entries?.includes(undefined) ? undefined : entries;
  },
  fromText: parseJson,
};

const PLUGIN_KEYS = new Set([...PLUGIN_SOURCES, "ref", "name", "enabled", "installed-at"]);

function readPlugin(raw: unknown, { home, base }: ReadContext): PluginEntry | undefined {
  if (!isTable(raw)) {
    const url = readText(raw);
    return url === undefined ? undefined : { url, enabled: true };
  }
  const table = new Map(Object.entries(raw).map(([key, value]) => [toKebabCase(key), value]));
  const sources = PLUGIN_SOURCES.filter((key) => table.has(key));
  const address = readText(table.get(sources[0] ?? ""));
  const enabled = table.get("enabled") ?? true;
  const isSound = sources.length === 1 && [...table.keys()].every((key) => PLUGIN_KEYS.has(key));
  if (!isSound || address === undefined || typeof enabled !== "boolean") return undefined;
  const isPath = sources[0] === "path";
  const ref = readText(table.get("ref"));
  if (isPath && ref !== undefined) return undefined;
  const name = readText(table.get("name"));
  const installed = table.get("installed-at");
  const installedAt = installed instanceof Date ? installed.toISOString() : readText(installed);
  return {
    url: isPath ? expandPath(address, home, base) : address,
    enabled,
    ...(ref && { ref }),
    ...(name && { name }),
    ...(installedAt && { installedAt }),
  };
}

/** A plain object: what TOML calls a table. */
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

function readText(raw: unknown): string | undefined {
  return typeof raw === "string" && raw.trim() !== "" ? raw.trim() : undefined;
}

/** One text counts as a list of one; numbers (chat ids) become texts; blank entries are dropped. */
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Which no type allows, so the caller is told what is.
  }
}
