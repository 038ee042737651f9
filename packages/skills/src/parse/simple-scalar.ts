/** Scalars of the simple YAML reader, on one line. `undefined` means: not sure, ask the full parser. */
import type { Json } from "@metier/base/json";

const SPACE = 0x20;
const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** The words that are not text. */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...["~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);
/** Of `false`. */
const LONGEST_WORD = 5;
/** First characters with a special meaning. `-`, `?` and `:` have one only before a space. */
const INDICATORS = "#&*!|>'\"%@`,[]{}";

/** The value of `text` from `start` to `end`, with optional spaces around it and a comment after it. */
export function readScalar(text: string, start: number, end: number): Json | undefined {
  const first = text.charAt(start);
  if (first === '"' || first === "'") return readQuoted(text, start, end, first);
  if (first === "[") return readFlowList(text, start, end);
  if (first === "{") return sliceTrimmed(text, start, end) === "{}" ? {} : undefined;
  const plain = readPlain(text, start, end);
  return plain === undefined ? undefined : resolvePlain(plain);
}

/** The text of a plain scalar, without a type yet. */
export function readPlain(text: string, start: number, end: number): string | undefined {
  if (!mayStartPlain(text, start)) return undefined;
  const plain = sliceTrimmed(text, start, end);
  return isUnambiguous(plain) ? plain : undefined;
}

/** Without surrounding spaces; other whitespace is content to YAML. */
export function sliceTrimmed(text: string, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && text.charCodeAt(first) === SPACE) first++;
  while (last > first && text.charCodeAt(last - 1) === SPACE) last--;
  return text.slice(first, last);
}

/** No `: `, which would make it a key, and no ` #`, which would start a comment. */
export function isUnambiguous(plain: string): boolean {
  if (plain.includes("#") && plain.includes(" #")) return false;
  for (let colon = plain.indexOf(":"); colon !== -1; colon = plain.indexOf(":", colon + 1)) {
    if (colon === plain.length - 1 || plain.charAt(colon + 1) === " ") return false;
  }
  return true;
}

function mayStartPlain(text: string, at: number): boolean {
  const first = text.charAt(at);
  if (INDICATORS.includes(first)) return false;
  if (first !== "-" && first !== "?" && first !== ":") return true;
  const second = text.charAt(at + 1);
  return second !== "" && second !== " " && second !== "\n";
}

/** The type YAML 1.2 (core schema) gives a plain scalar. */
export function resolvePlain(plain: string): Json | undefined {
  const word = plain.length <= LONGEST_WORD ? WORDS.get(plain) : undefined;
  return word === undefined ? resolveNumber(plain) : word;
}

function resolveNumber(plain: string): Json | undefined {
  if (!/^[0-9+.-]/.test(plain)) return plain;
  if (INTEGER.test(plain) || FLOAT.test(plain)) {
    const value = Number(plain);
    return isExact(value) ? value : undefined;
  }
  // Hexadecimal, octal, `.inf` and `.nan` are left to the full parser.
  return /^0[xo]|^[-+]?\.[inIN]/.test(plain) ? undefined : plain;
}

function isExact(value: number): boolean {
  return Number.isInteger(value)
    ? Number.isSafeInteger(value) && !Object.is(value, -0)
    : Number.isFinite(value);
}

/** On one line; the only escape is the doubled single quote. */
function readQuoted(text: string, start: number, end: number, quote: string): string | undefined {
  let close = text.indexOf(quote, start + 1);
  const isSingle = quote === "'";
  while (isSingle && close !== -1 && text.charAt(close + 1) === quote) close = text.indexOf(quote, close + 2);
  if (close === -1 || close >= end || !isBlankOrComment(text, close + 1, end)) return undefined;
  const value = text.slice(start + 1, close);
  if (isSingle) return value.includes(quote) ? value.replaceAll("''", quote) : value;
  return value.includes("\\") ? undefined : value;
}

function isBlankOrComment(text: string, start: number, end: number): boolean {
  if (start === end) return true;
  const rest = sliceTrimmed(text, start, end);
  return rest === "" || (rest.startsWith("#") && text.startsWith(" ", start));
}

/** `[a, "b", 3]` on one line. */
function readFlowList(text: string, start: number, end: number): Json | undefined {
  const close = text.indexOf("]", start);
  if (close === -1 || close >= end || !isBlankOrComment(text, close + 1, end)) return undefined;
  if (isBlankOrComment(text, start + 1, close))
    return text.slice(start + 1, close).includes("#") ? undefined : [];
  const items: Json[] = [];
  for (const part of text.slice(start + 1, close).split(",")) {
    const item = readFlowItem(sliceTrimmed(part, 0, part.length));
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function readFlowItem(item: string): Json | undefined {
  if (item === "") return undefined;
  const first = item.charAt(0);
  if (first === '"' || first === "'") return readQuoted(item, 0, item.length, first);
  if (/[[\]{}]/.test(item) || "-?:".includes(first)) return undefined;
  return readScalar(item, 0, item.length);
}
