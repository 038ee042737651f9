/**
 * Characters a reader cannot see: control characters, which YAML forbids, and invisible or bidirectional ones,
 * which can make a text read differently to a person and to a model.
 */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { locateKey } from "./locate-key.ts";
import { shorten } from "./shorten.ts";
import { positionAt } from "./text-position.ts";

/** Variation selectors are left alone: they only choose how the character before them looks. */
const INVISIBLE = /(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu;
const CONTROL = /[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F]/g;

/** What a joiner may follow: an emoji, a mark, a letter of a script that joins. */
const BEFORE_JOINER = /(?:\p{Emoji}|\p{M}|\p{L})(?<![\x00-\x7F])$/u;
/** The tags of a flag. */
const FLAG = /\u{1F3F4}[\u{E0020}-\u{E007F}]*$/u;

/** Without control characters, and a fault that says where they stood. */
export function stripControlCharacters(text: string, firstLine: number, faults: Fault[]): string {
  const found = text.match(CONTROL);
  if (found === null) return text;
  faults.push({
    code: "text.control-character",
    severity: "warning",
    message: `The frontmatter has ${plural(found.length, "control character")} (${codePoint(found[0])} first), which YAML forbids; they were left out.`,
    ...positionAt(text, text.search(CONTROL), firstLine),
    hint: "Delete them: an editor that shows control characters finds them.",
  });
  return text.replace(CONTROL, "");
}

/** A fault when the text has characters that cannot be seen and belong to no emoji or script. */
export function findInvisibleCharacters(text: string, firstLine: number): Fault | undefined {
  const found = invisibleIn(text);
  const first = found[0];
  if (first === undefined) return undefined;
  return {
    code: "text.invisible",
    severity: "warning",
    message: `The frontmatter has ${plural(found.length, "invisible character")} (${codePoint(first[0])} first); a person and a model may read it differently.`,
    ...positionAt(text, first.index, firstLine),
    hint: "Delete them, unless you know why they are there.",
  };
}

/**
 * A fault when values have such characters although the text they were read from shows none: YAML can write any
 * character as an escape.
 */
export function findEscapedCharacters(
  frontmatter: Readonly<Record<string, Json>>,
  yaml: string,
  firstLine: number,
): Fault | undefined {
  if (!yaml.includes("\\")) return undefined;
  const seen = new Set<string>();
  for (const [key, value] of Object.entries(frontmatter)) {
    const hidden = firstHidden(key, seen) ?? firstHidden(value, seen);
    if (hidden === undefined) continue;
    return {
      code: "text.invisible",
      severity: "warning",
      message: `\`${shorten(key)}\` has an escape for ${codePoint(hidden)}, which cannot be seen; a person and a model may read it differently.`,
      ...(locateKey(yaml, firstLine, key) ?? { line: firstLine }),
      hint: "Delete it, or write `\\\\` where a backslash is meant.",
    };
  }
  return undefined;
}

/** The first hidden character in the texts of a value. A text that aliases repeat is looked at once. */
function firstHidden(value: Json, seen: Set<string>): string | undefined {
  if (typeof value === "string") {
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value.match(CONTROL)?.[0] ?? invisibleIn(value)[0]?.[0];
  }
  for (const [key, item] of Object.entries(value ?? {})) {
    const hidden = firstHidden(key, seen) ?? firstHidden(item, seen);
    if (hidden !== undefined) return hidden;
  }
  return undefined;
}

function invisibleIn(text: string): readonly RegExpExecArray[] {
  return [...text.matchAll(INVISIBLE)].filter((match) => !belongs(text, match.index));
}

function belongs(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 32), at);
  const character = text.charAt(at);
  if (character === "\u200C" || character === "\u200D") return BEFORE_JOINER.test(before);
  return (text.codePointAt(at) ?? 0) >= 0xe0000 && FLAG.test(before);
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
