/**
 * The full path for frontmatter that the simple reader is not sure of: clean it, read it as YAML, repair it, say what
 * was done. Imports the `yaml` package, so it is itself imported only when the first file needs it.
 */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { isJsonMap, parseYaml } from "./parse-yaml.ts";
import { hasFalseBlanks } from "./repair-blanks.ts";
import { repairYaml } from "./repair-yaml.ts";
import { MAX_FRONTMATTER, recutSwallowedBody, type SplitFile } from "./split-frontmatter.ts";
import { findEscapedCharacters, findInvisibleCharacters, stripControlCharacters } from "./suspicious-text.ts";

export interface FrontmatterReading {
  /** As given, or cut again where its body really begins. */
  readonly split: SplitFile;
  readonly frontmatter: Readonly<Record<string, Json>> | undefined;
  readonly faults: readonly Fault[];
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
  const faults: Fault[] = [];
  const text = stripControlCharacters(yaml, yamlLine, faults);
  const invisible = findInvisibleCharacters(text, yamlLine);
  if (invisible !== undefined) faults.push(invisible);

  const spaced = hasFalseBlanks(text) ? repairYaml(text, yamlLine) : undefined;
  if (spaced !== undefined)
    return { split, frontmatter: spaced.value, faults: [...faults, ...spaced.faults] };
  const result = parseYaml(text, yamlLine);
  if (result.ok && isJsonMap(result.value)) {
    return { split, frontmatter: result.value, faults: [...faults, ...result.faults] };
  }
  const recut = recutSwallowedBody(split);
  if (recut !== undefined) return cleanAndRead(recut);
  const isRepairable = result.ok ? result.value !== null : result.problem.code === "yaml.invalid";
  const repaired = isRepairable ? repairYaml(text, yamlLine) : undefined;
  if (repaired !== undefined) {
    return { split, frontmatter: repaired.value, faults: [...faults, ...repaired.faults] };
  }
  const problem = result.ok ? noKeys(result.value, yamlLine) : result.problem;
  return { split, frontmatter: undefined, faults: [...faults, problem] };
}

function tooLarge({ yaml = "", yamlLine }: SplitFile): Fault {
  return {
    code: "frontmatter.too-large",
    severity: "error",
    message: `The frontmatter has ${yaml.length} characters; at most ${MAX_FRONTMATTER} are read.`,
    line: yamlLine,
    hint: "Move what is not metadata into the body or into files next to it.",
  };
}

function noKeys(value: Json, line: number): Fault {
  const found = Array.isArray(value)
    ? "is a list, not keys with values"
    : "is plain text, not keys with values";
  return {
    code: value === null ? "frontmatter.empty" : "frontmatter.not-a-mapping",
    severity: "error",
    message: `The frontmatter ${value === null ? "has no keys" : found}.`,
    line,
    hint: "Write one `key: value` a line, at least `description: …`.",
  };
}
