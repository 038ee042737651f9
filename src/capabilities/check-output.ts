/**
 * What a provider answers becomes plain, bounded JSON without anything that looks like a credential, at any depth, by name
 * or by form: it goes to a run, and from there to a model. A mistake in either direction is possible; the side that is
 * chosen is to refuse.
 */
import type { Json } from "../skill/manifest.ts";
import type { JsonObject } from "./capability.ts";
import { type Answer, done, refuse } from "./capability-fault.ts";
import { isCredentialName } from "./credential-names.ts";
import { findCredentialForm } from "./credential-values.ts";
import { readPlainObject } from "./plain-json.ts";

export interface FoundCredential {
  /** `items[0].headers.authorization`; never the value. */
  readonly path: string;
  /** `named like a credential`, or the form: `a JSON Web Token`. */
  readonly what: string;
}

const MOST_LEVELS = 100;
const MOST_VALUES = 200_000;
/** Longer texts are searched for forms, but not read as JSON. */
const MOST_INNER_CHARACTERS = 256 * 1024;

/** Looked for in keys and values, and in texts that are JSON themselves. Too deep or too much to look at is found, too. */
export function findCredential(value: unknown): FoundCredential | undefined {
  let seen = 0;
  const search = (part: unknown, path: string, level: number): FoundCredential | undefined => {
    if (++seen > MOST_VALUES) return { path, what: `beyond the ${MOST_VALUES} values that are looked at` };
    if (level > MOST_LEVELS) return { path, what: `nested deeper than ${MOST_LEVELS} levels` };
    if (typeof part === "string") return searchText(part, path, level);
    if (typeof part !== "object" || part === null) return undefined;
    if (Array.isArray(part)) return searchItems(part, path, level);
    return searchEntries(part, path, level);
  };
  const searchText = (text: string, path: string, level: number): FoundCredential | undefined => {
    const what = findCredentialForm(text);
    if (what !== undefined) return { path, what };
    const inner = readInner(text);
    return inner === undefined ? undefined : search(inner, path, level + 1);
  };
  const searchItems = (
    items: readonly unknown[],
    path: string,
    level: number,
  ): FoundCredential | undefined => {
    for (const [index, item] of items.entries()) {
      const found = search(item, `${path}[${index}]`, level + 1);
      if (found) return found;
    }
    return undefined;
  };
  const searchEntries = (part: object, path: string, level: number): FoundCredential | undefined => {
    if (isSpelledOut(part)) return { path: join(path, "value"), what: NAMED };
    for (const [key, item] of Object.entries(part)) {
      const here = join(path, key);
      if (isCredentialName(key, item)) return { path: here, what: NAMED };
      const what = findCredentialForm(key);
      if (what !== undefined) return { path, what };
      const found = search(item, here, level + 1);
      if (found) return found;
    }
    return undefined;
  };
  return search(value, "", 0);
}

/** Plain JSON, or `capability_invalid_output`. `source` begins the message, as in "The output of `gog.email`". */
export function checkOutput(source: string, value: unknown): Answer<JsonObject> {
  const plain = readPlainObject(value);
  if (!plain.ok) return refuse("capability_invalid_output", `${source} ${plain.problem}.`);
  const found = findCredential(plain.value);
  if (found === undefined) return done(plain.value);
  const where = found.path === "" ? "" : ` at \`${found.path}\``;
  return refuse("capability_invalid_output", `${source} is not passed on:${where} it is ${found.what}.`, {
    hint: "A provider keeps credentials to itself, in its vault, and gives out references.",
  });
}

const NAMED = "named like a credential";

const NAME_KEYS: ReadonlySet<string> = new Set(["name", "key", "header"]);

/** An entry that is spelled out, as headers are: `{ "name": "Set-Cookie", "value": "…" }`; keys in any letter case. */
function isSpelledOut(part: object): boolean {
  const entries = Object.entries(part).map(([key, item]) => [key.toLowerCase(), item as unknown] as const);
  const names = entries.flatMap(([key, item]) =>
    NAME_KEYS.has(key) && typeof item === "string" ? [item] : [],
  );
  const values = entries.flatMap(([key, item]) => (key === "value" ? [item] : []));
  return names.some((name) => values.some((value) => isCredentialName(name, value)));
}

function readInner(text: string): Json | undefined {
  if (text.length > MOST_INNER_CHARACTERS || !/^\s*["[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // Only looks like JSON.
  }
}

/** A key comes from the provider as well: only a plain one is shown. */
function join(path: string, key: string): string {
  const shown = /^[\w -]{1,60}$/.test(key) && findCredentialForm(key) === undefined ? key : "…";
  return path === "" ? shown : `${path}.${shown}`;
}
