/**
 * The full path for frontmatter that the simple reader is not sure of: clean it, read it as YAML, repair it, say what
 * was done. Imports the `yaml` package, so it is itself imported only when the first file needs it.
 */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { parseYaml } from "./parse-yaml.ts";
import { hasFalseBlanks, repairYaml } from "./repair-yaml.ts";
import { MAX_FRONTMATTER, recutSwallowedBody, type SplitFile } from "./split-frontmatter.ts";
import { findInvisibleCharacters, stripControlCharacters } from "./suspicious-text.ts";

export interface FrontmatterReading {
  /** As given, or cut again where its body really begins. */
  readonly split: SplitFile;
  readonly frontmatter: Readonly<Record<string, Json>> | undefined;
  readonly faults: readonly Fault[];
}

export function readFrontmatter(split: SplitFile): FrontmatterReading {
  const { yaml = "", yamlLine } = split;
  if (yaml.length > MAX_FRONTMATTER) return { split, frontmatter: undefined, faults: [tooLarge(split)] };
  const faults: Fault[] = [];
  const text = stripControlCharacters(yaml, yamlLine, faults);
  const invisible = findInvisibleCharacters(text, yamlLine);
  if (invisible !== undefined) faults.push(invisible);

  const result = parseYaml(text, yamlLine);
  if (result.ok && isMap(result.value) && !hasFalseBlanks(text)) {
    return { split, frontmatter: result.value, faults: [...faults, ...result.faults] };
  }
  if (result.ok && result.value === null)
    return { split, frontmatter: undefined, faults: [...faults, empty(split)] };
  const recut = recutSwallowedBody(split);
  if (recut !== undefined) return readFrontmatter(recut);
  const isRepairable = result.ok || result.problem.code === "yaml.invalid";
  const repaired = isRepairable ? repairYaml(text, yamlLine) : undefined;
  if (repaired !== undefined) {
    return { split, frontmatter: repaired.value, faults: [...faults, ...repaired.faults] };
  }
  return {
    split,
    frontmatter: undefined,
    faults: [...faults, result.ok ? notAMap(split, result.value) : result.problem],
  };
}

function isMap(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const KEYS_HINT = "Write one `key: value` a line, at least `description: …`.";

function tooLarge({ yaml = "", yamlLine }: SplitFile): Fault {
  return {
    code: "frontmatter.too-large",
    severity: "error",
    message: `The frontmatter has ${yaml.length} characters; at most ${MAX_FRONTMATTER} are read.`,
    line: yamlLine,
    hint: "Move what is not metadata into the body or into files next to it.",
  };
}

function empty({ yamlLine }: SplitFile): Fault {
  return {
    code: "frontmatter.empty",
    severity: "error",
    message: "The frontmatter has no keys.",
    line: yamlLine,
    hint: KEYS_HINT,
  };
}

function notAMap({ yamlLine }: SplitFile, value: Json): Fault {
  return {
    code: "frontmatter.not-a-mapping",
    severity: "error",
    message: `The frontmatter is ${Array.isArray(value) ? "a list" : "plain text"}, not keys with values.`,
    line: yamlLine,
    hint: KEYS_HINT,
  };
}
