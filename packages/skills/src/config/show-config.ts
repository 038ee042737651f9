/**
 * Shows config: every value with its origin and what it replaced (`metier config --explain`), key paths as people write
 * them, and values without secrets. Secrets leave the config only through use, never in a message.
 */
import type { LoadedConfig, Origin } from "./config.ts";
import type { ConfigField } from "./config-field.ts";
import { isTable } from "./value-types.ts";

export interface ConfigRow {
  readonly key: string;
  /** Secrets are already redacted. */
  readonly value: unknown;
  /** `user file /home/me/.metier/config.toml:12` */
  readonly origin: string;
  /** The value is the stricter combination of this layer and the lower one. */
  readonly tightens: boolean;
  /** The most recently replaced first. */
  readonly overridden: readonly { readonly value: unknown; readonly origin: string }[];
}

/** In table order. */
export function explainConfig({ origins }: Pick<LoadedConfig, "origins">): readonly ConfigRow[] {
  return [...origins].map(([key, { value, tightens, overridden, ...origin }]) => ({
    key,
    value,
    origin: formatOrigin(origin),
    tightens,
    overridden: overridden.map((lower) => ({ value: lower.value, origin: formatOrigin(lower.origin) })),
  }));
}

const LAYER_WORDS: Readonly<Record<Origin["layer"], string>> = {
  default: "default",
  preset: "preset",
  user: "user file",
  project: "project file",
  environment: "environment",
  option: "option",
  policy: "policy",
};

export function formatOrigin({ layer, where, line }: Origin): string {
  if (layer === "option" && where) return where; // It already names its option.
  const place = line === undefined ? where : `${where}:${line}`;
  return [LAYER_WORDS[layer], place].filter(Boolean).join(" ");
}

const BARE = /^[A-Za-z0-9_-]+$/;
const MOST_KEY_CHARACTERS = 120;
const SEGMENT = /\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^.\s"']+))\s*(\.|$)/y;

/** `skills.trusted-paths`, `tools."bash(git:*)"`. */
export function formatKeyPath(segments: readonly string[]): string {
  return segments.map((segment) => (BARE.test(segment) ? segment : JSON.stringify(segment))).join(".");
}

/** For messages: a key in an untrusted file may have any length. */
export function showKeyPath(segments: readonly string[]): string {
  const text = formatKeyPath(segments);
  return text.length > MOST_KEY_CHARACTERS ? `${text.slice(0, MOST_KEY_CHARACTERS)}…` : text;
}

/** `undefined` if a quote is not closed or a part is empty. */
export function parseKeyPath(text: string): readonly string[] | undefined {
  const segments: string[] = [];
  SEGMENT.lastIndex = 0;
  for (let end = "."; end === "."; ) {
    const match = SEGMENT.exec(text);
    if (!match) return undefined;
    const [, double, single, bare] = match;
    segments.push(double?.replace(/\\(.)/g, "$1") ?? single ?? bare ?? "");
    end = match[4] ?? "";
  }
  return segments;
}

const REDACTED = "••••";
const URL_CREDENTIALS = /(:\/\/)[^/?#\s@]+@/g;
const MOST_VALUE_CHARACTERS = 80;

/** The value as data, with secrets and URL credentials replaced. */
export function redactValue(field: ConfigField, value: unknown): unknown {
  if (!field.secret) return withoutCredentials(value);
  if (!isTable(value)) return REDACTED;
  const { value: own, secret, ...reference } = value;
  if (own === undefined) return withoutCredentials(reference); // a command or a keychain: it contains no secret
  return secret === false ? withoutCredentials(own) : REDACTED;
}

/** The value on one short line, for messages. Tables are not shown: misplaced content may be secret. */
export function showConfigValue(field: ConfigField, value: unknown): string {
  if (field.secret) return REDACTED;
  if (isTable(value)) return "a table";
  if (Array.isArray(value) && value.some(isTable)) return "a list with tables";
  const text = JSON.stringify(withoutCredentials(value)) ?? String(value);
  return text.length > MOST_VALUE_CHARACTERS ? `${text.slice(0, MOST_VALUE_CHARACTERS)}…` : text;
}

function withoutCredentials(value: unknown): unknown {
  if (typeof value === "string") return value.replace(URL_CREDENTIALS, `$1${REDACTED}@`);
  if (Array.isArray(value)) return value.map(withoutCredentials);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutCredentials(item)]));
}
