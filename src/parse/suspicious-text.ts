/** Reports the characters of a frontmatter that a reader cannot see, and takes out those that YAML forbids. */
import { CONTROL_CHARACTERS, nameCodePoint, takeOutInvisible } from "../foundation/hidden-characters.ts";
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { locateKey } from "./locate-key.ts";
import { shorten } from "./shorten.ts";
import { positionAt } from "./text-position.ts";

/** Without control characters, and a fault that says where they stood. */
export function stripControlCharacters(text: string, firstLine: number, faults: Fault[]): string {
  const found = text.match(CONTROL_CHARACTERS);
  if (found === null) return text;
  faults.push({
    code: "text.control-character",
    severity: "warning",
    message: `The frontmatter has ${plural(found.length, "control character")} (${nameCodePoint(found[0])} first), which YAML forbids; they were left out.`,
    ...positionAt(text, text.search(CONTROL_CHARACTERS), firstLine),
    hint: "Delete them: an editor that shows control characters finds them.",
  });
  return text.replace(CONTROL_CHARACTERS, "");
}

/** A fault when the text has characters that cannot be seen and belong to no emoji or script. */
export function findInvisibleCharacters(text: string, firstLine: number): Fault | undefined {
  const { hidden } = takeOutInvisible(text);
  const first = hidden[0];
  if (first === undefined) return undefined;
  return {
    code: "text.invisible",
    severity: "warning",
    message: `The frontmatter has ${plural(hidden.length, "invisible character")} (${nameCodePoint(first.character)} first); a person and a model may read it differently.`,
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
      message: `\`${shorten(key)}\` has an escape for ${nameCodePoint(hidden)}, which cannot be seen; a person and a model may read it differently.`,
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
    return value.match(CONTROL_CHARACTERS)?.[0] ?? takeOutInvisible(value).hidden[0]?.character;
  }
  for (const [key, item] of Object.entries(value ?? {})) {
    const hidden = firstHidden(key, seen) ?? firstHidden(item, seen);
    if (hidden !== undefined) return hidden;
  }
  return undefined;
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
