/**
 * The full path for frontmatter that the simple reader is not sure about: cleans it, reads it as YAML, repairs it, and
 * reports what was done. Imports the `yaml` package, so it is itself imported only on demand.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import { CONTROL_CHARACTERS, nameCodePoint, takeOutInvisible } from "@metier/base/text";
import { parseYaml } from "./parse-yaml.ts";
import { hasFalseBlanks, repairYaml } from "./repair-yaml.ts";
import { locateKey, positionAt, shorten, type UnplacedDiagnostic, warnAt } from "./source-text.ts";
import { MAX_FRONTMATTER, recutSwallowedBody, type SplitFile } from "./split-frontmatter.ts";

export interface FrontmatterReading {
  /** As given, or split again where its body really starts. */
  readonly split: SplitFile;
  readonly frontmatter: Readonly<Record<string, Json>> | undefined;
  readonly faults: readonly UnplacedDiagnostic[];
}

export function readFrontmatter(split: SplitFile): FrontmatterReading {
  const reading = cleanAndRead(split);
  const { frontmatter, faults } = reading;
  if (frontmatter === undefined || faults.some(({ code }) => code === "text.invisible")) return reading;
  const escaped = findEscapedCharacters(frontmatter, reading.split.yaml ?? "", reading.split.yamlLine);
  return escaped === undefined ? reading : { ...reading, faults: [...faults, escaped] };
}

function cleanAndRead(split: SplitFile): FrontmatterReading {
  const { yaml = "", yamlLine } = split;
  if (yaml.length > MAX_FRONTMATTER) return { split, frontmatter: undefined, faults: [tooLarge(split)] };
  const faults: UnplacedDiagnostic[] = [];
  const text = stripControlCharacters(yaml, yamlLine, faults);
  const invisible = findInvisibleCharacters(text, yamlLine);
  if (invisible !== undefined) faults.push(invisible);

  const spaced = hasFalseBlanks(text) ? repairYaml(text, yamlLine) : undefined;
  if (spaced !== undefined)
    return { split, frontmatter: spaced.value, faults: [...faults, ...spaced.faults] };
  const result = parseYaml(text, yamlLine);
  if (result.ok && isJsonObject(result.value.data)) {
    return { split, frontmatter: result.value.data, faults: [...faults, ...result.value.faults] };
  }
  const recut = recutSwallowedBody(split);
  if (recut !== undefined) return cleanAndRead(recut);
  const isRepairable = result.ok ? result.value.data !== null : result.refusal.code === "yaml.invalid";
  const repaired = isRepairable ? repairYaml(text, yamlLine) : undefined;
  if (repaired !== undefined) {
    return { split, frontmatter: repaired.value, faults: [...faults, ...repaired.faults] };
  }
  const unreadable = result.ok ? noKeys(result.value.data, yamlLine) : result.refusal;
  return { split, frontmatter: undefined, faults: [...faults, unreadable] };
}

function tooLarge({ yaml = "", yamlLine }: SplitFile): UnplacedDiagnostic {
  return {
    code: "frontmatter.too-large",
    severity: "error",
    message: `The frontmatter has ${yaml.length} characters; the limit is ${MAX_FRONTMATTER}.`,
    line: yamlLine,
    hint: "Move everything except metadata into the body or into separate files.",
  };
}

function noKeys(value: Json, line: number): UnplacedDiagnostic {
  const found = Array.isArray(value)
    ? "is a list, not keys with values"
    : "is plain text, not keys with values";
  return {
    code: value === null ? "frontmatter.empty" : "frontmatter.not-a-mapping",
    severity: "error",
    message: `The frontmatter ${value === null ? "has no keys" : found}.`,
    line,
    hint: "Write one `key: value` per line, at least `description: …`.",
  };
}

// Invisible characters.

/** Without control characters, and a fault with their position. */
export function stripControlCharacters(
  text: string,
  firstLine: number,
  faults: UnplacedDiagnostic[],
): string {
  const found = text.match(CONTROL_CHARACTERS);
  if (found === null) return text;
  const place = positionAt(text, text.search(CONTROL_CHARACTERS), firstLine);
  const message = `The frontmatter has ${plural(found.length, "control character")} (${nameCodePoint(found[0])} first), which YAML forbids; they were removed.`;
  const hint = "Delete them with an editor that shows control characters.";
  faults.push(warnAt(place, "text.control-character", message, hint));
  return text.replace(CONTROL_CHARACTERS, "");
}

/** A fault if the text has invisible characters that belong to no emoji or script. */
export function findInvisibleCharacters(text: string, firstLine: number): UnplacedDiagnostic | undefined {
  const { hidden } = takeOutInvisible(text);
  const first = hidden[0];
  if (first === undefined) return undefined;
  const place = positionAt(text, first.index, firstLine);
  const message = `The frontmatter has ${plural(hidden.length, "invisible character")} (${nameCodePoint(first.character)} first); a person and a model may read it differently.`;
  return warnAt(place, "text.invisible", message, "Delete them, unless you know why they are there.");
}

/** A fault if values have such characters although their source text shows none: YAML can escape any character. */
function findEscapedCharacters(
  frontmatter: Readonly<Record<string, Json>>,
  yaml: string,
  firstLine: number,
): UnplacedDiagnostic | undefined {
  if (!yaml.includes("\\")) return undefined;
  const seen = new Set<string>();
  for (const [key, value] of Object.entries(frontmatter)) {
    const hidden = firstHidden(key, seen) ?? firstHidden(value, seen);
    if (hidden === undefined) continue;
    const place = locateKey(yaml, firstLine, key) ?? { line: firstLine };
    const message = `\`${shorten(key)}\` has an escape for the invisible character ${nameCodePoint(hidden)}; a person and a model may read it differently.`;
    return warnAt(place, "text.invisible", message, "Delete it, or write `\\\\` for a backslash.");
  }
  return undefined;
}

/** The first hidden character in a value's strings. A string repeated by aliases is checked once. */
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
