/**
 * Untrusted text: removes what a reader can't see, handles names as people write them (three spellings, nearest known
 * names, globs), and formats values for messages. All of it is bounded, since names and patterns may be hostile.
 */
export { forReader, forUploader, onCommandLine } from "./reader.ts";

/*
 * What a reader can't see: control characters, bidirectional, tag and other invisible characters, which can make a
 * text read differently to a person and to a model, and invalid characters (half a surrogate pair, U+FFFE). The one
 * list: parsing reports them, disclosure removes them. Line breaks become `\n`.
 */

export interface CleanText {
  readonly text: string;
  /** What was removed, for a diagnostic; absent if nothing was. */
  readonly removed?: {
    readonly count: number;
    /** One of them, such as `U+202E`. */
    readonly example: string;
  };
}

/** A fast path: most text is plain, and thousands of descriptions are cleaned. */
const PLAIN = /^[\t\n\x20-\x7E]*$/;

export function cleanText(text: string): CleanText {
  if (PLAIN.test(text)) return { text };
  const removed: string[] = [];
  const note = (character: string): string => {
    removed.push(character);
    return "";
  };
  const printable = text
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL_CHARACTERS, note)
    .replace(/[\p{Surrogate}\p{Noncharacter_Code_Point}]/gu, note);
  const visible = takeOutInvisible(printable);
  const example = removed[0] ?? visible.hidden[0]?.character;
  return example === undefined
    ? { text: visible.text }
    : {
        text: visible.text,
        removed: { count: removed.length + visible.hidden.length, example: nameCodePoint(example) },
      };
}

/** On one line, for formats in which a line break would start something new. */
export function cleanLine(text: string): string {
  return cleanText(text)
    .text.replace(/[\s\u0085]+/g, " ")
    .trim();
}

/** All control characters except tab, line breaks and U+0085. */
export const CONTROL_CHARACTERS: RegExp = /[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F]/g;

/** Nothing else hides, and most texts have none. */
const NOT_ASCII = /[^\x00-\x7F]/;

interface HiddenCharacter {
  readonly character: string;
  /** The place in the text. */
  readonly index: number;
}

interface VisibleText {
  readonly text: string;
  /** What was removed, in the order of the text. */
  readonly hidden: readonly HiddenCharacter[];
}

/** The text without invisible characters that belong to no emoji and no script. */
export function takeOutInvisible(text: string): VisibleText {
  if (!NOT_ASCII.test(text)) return { text, hidden: [] };
  const hidden: HiddenCharacter[] = [];
  let before = ""; // the last one kept
  let end = 0;
  // The flags of England, Scotland and Wales are the only ones spelled with tags; each is matched as a whole.
  const invisible =
    /(?<=\u{1F3F4})\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}|\p{Default_Ignorable_Code_Point}/gu;
  for (const { 0: character, index } of text.matchAll(invisible)) {
    before = (before + text.slice(Math.max(end, index - 2), index)).slice(-2);
    if (belongs(character, before)) before = character;
    else hidden.push({ character, index });
    end = index + character.length;
  }
  return { text: hidden.length === 0 ? text : takeOut(text, hidden), hidden };
}

function takeOut(text: string, characters: readonly HiddenCharacter[]): string {
  const kept: string[] = [];
  let end = 0;
  for (const { character, index } of characters) {
    kept.push(text.slice(end, index));
    end = index + character.length;
  }
  return kept.join("") + text.slice(end);
}

// Expressions with Unicode classes take part of a millisecond to make, so they are made on demand.
function belongs(character: string, before: string): boolean {
  if (character === "\u200C" || character === "\u200D") {
    // A joiner may follow an emoji, a mark, or a letter of a joining script.
    return /(?:\p{Emoji}|\p{M}|\p{L})(?<![\x00-\x7F])$/u.test(before);
  }
  if (/^[\uFE00-\uFE0F\u180B-\u180D\u180F]$/.test(character)) {
    // A variation selector follows something with two looks, and never a second selector.
    return /(?:[0-9#*]|[^\x00-\x7F\p{Default_Ignorable_Code_Point}])$/u.test(before);
  }
  if (/^[\u{E0100}-\u{E01EF}]$/u.test(character)) return /\p{Script=Han}$/u.test(before);
  return character.length > 2; // the tags of a flag
}

/** `U+200B` */
export function nameCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** `max_iterations` and `maxIterations` → `max-iterations`. */
export function toKebabCase(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** `max-iterations` → `max_iterations`. */
export function toSnakeCase(kebab: string): string {
  return kebab.replaceAll("-", "_");
}

/** `max-iterations` → `maxIterations`. */
export function toCamelCase(kebab: string): string {
  return kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The accepted spellings of a kebab-case key, itself first, without repetition. */
export function spellingsOf(kebab: string): readonly string[] {
  return [...new Set([kebab, toSnakeCase(kebab), toCamelCase(kebab)])];
}

const MAX_LENGTH = 64;
const MAX_CANDIDATES = 20_000;

/** Up to three names within a third of the word's length (at least one edit), nearest first. */
export function nearestNames(word: string, names: Iterable<string>, most = 3): readonly string[] {
  if (word.length === 0 || word.length > MAX_LENGTH) return [];
  const limit = Math.max(1, Math.floor(word.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  let seen = 0;
  for (const name of names) {
    if (++seen > MAX_CANDIDATES) break;
    if (Math.abs(name.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= limit) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || compareText(a.name, b.name));
  return found.slice(0, most).map((entry) => entry.name);
}

/** Insertions, deletions, substitutions and swaps of two neighbors, one each. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const distance = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(isSwap ? Math.min(distance, (beforePrevious[column - 2] ?? distance) + 1) : distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Returns the first pattern that matches a name. */
export type NameMatcher = (name: string) => string | undefined;

/** Whether one character matches; `undefined` stands for `*`, any number of characters. */
type Token = ((character: string) => boolean) | undefined;

export function nameMatcher(patterns: readonly string[]): NameMatcher {
  const compiled = patterns.map((pattern) => ({ pattern, matches: compileGlob(pattern) }));
  return (name) => compiled.find((entry) => entry.matches(name))?.pattern;
}

/** `\\` makes the next character literal. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const tokens = [...tokensOf(pattern)];
  return (text) => matches(tokens, [...text]);
}

/**
 * Greedy: after a mismatch, only the last `*` takes one more character, which is enough for single-character tokens.
 */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const test = tokens[token];
    if (token < tokens.length && test === undefined) {
      star = token++;
      starAt = at;
    } else if (test?.(name[at] ?? "")) {
      token++;
      at++;
    } else if (star !== -1) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (token < tokens.length && tokens[token] === undefined) token++;
  return token === tokens.length;
}

function* tokensOf(pattern: string): Iterable<Token> {
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    const close = character === "[" ? characters.indexOf("]", at + 2) : -1;
    if (character === "\\" && at + 1 < characters.length) {
      const escaped = characters[++at];
      yield (given) => given === escaped;
    } else if (character === "*") yield undefined;
    else if (character === "?") yield () => true;
    else if (close !== -1) {
      yield classOf(characters.slice(at + 1, close));
      at = close;
    } else yield (given) => given === character;
  }
}

/** `[abc]`, `[a-f]`, `[!x]`. */
function classOf(members: readonly string[]): (character: string) => boolean {
  const isNegated = members[0] === "!" || members[0] === "^";
  const rest = isNegated ? members.slice(1) : members;
  return (character) => isMember(rest, character) !== isNegated;
}

function isMember(members: readonly string[], character: string): boolean {
  return members.some((member, index) => {
    const isRange = members[index + 1] === "-" && members[index + 2] !== undefined;
    return isRange ? member <= character && character <= (members[index + 2] ?? "") : member === character;
  });
}

const MAX_SHOWN = 80;

/** Formats a value from outside for a message. */
export function showValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `\`${cut.replace(/[\p{C}\p{Zl}\p{Zp}`]/gu, escapeCharacter)}\``;
}

/** `a`, `b` and `c`, each in backticks. */
export function showNames(names: readonly string[]): string {
  const shown = names.map(showValue);
  const last = shown.pop() ?? "";
  return shown.length > 0 ? `${shown.join(", ")} and ${last}` : last;
}

function escapeCharacter(character: string): string {
  if (character === "`") return "'";
  if (character === "\n") return "\\n";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Names that no longer come with Metier. Users of one are told where it went. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ["desk", "examples/desk"],
  ["metier-desk", "examples/desk"],
]);

/** A sentence about a skill, provider or program that left; empty for any other name. */
export function tellMoved(name: string): string | undefined {
  const place = MOVED.get(name);
  if (place === undefined) return undefined;
  return `\`${name}\` no longer comes with Metier. It is now an example: see \`${place}\` in the repository.`;
}

/** Code-unit order: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Escapes control, bidirectional and other invisible characters, so that a skill can't write to the terminal. */
const UNSAFE_IN_TERMINAL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

export function safeText(text: string): string {
  return text.replace(UNSAFE_IN_TERMINAL, "\ufffd");
}

/** Also removes line breaks, so that a path or name can't add a line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/[\t\n\r\u2028\u2029]/g, "\ufffd");
}

/** Money for people: `$0.0123`. An amount below the last digit isn't shown as zero. */
export function showCost(cost: number): string {
  if (cost > 0 && cost < 0.0001) return "<$0.0001";
  return `${cost < 0 ? "-" : ""}$${Math.abs(cost).toFixed(4)}`;
}

/**
 * 16 hexadecimal digits that distinguish texts, for names; no protection against deliberate collisions. Loading
 * `node:crypto` for this would take longer than writing most files.
 */
export function markOf(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    high = Math.imul(high ^ text.charCodeAt(index), 0x01000193);
    low = Math.imul(low + text.charCodeAt(index), 0x5bd1e995) ^ (low >>> 15);
  }
  return [high, low].map(toHex).join("");
}

/** 16 random hexadecimal digits for the name of a file that must not exist yet; never a secret. */
export function randomMark(): string {
  return [Math.random(), Math.random()].map((part) => toHex(part * 2 ** 32)).join("");
}

function toHex(number: number): string {
  return (number >>> 0).toString(16).padStart(8, "0");
}
