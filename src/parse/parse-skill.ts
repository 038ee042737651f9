/**
 * The parse stage: a candidate and its text become a ParsedSkill. Whatever is wrong with the file is a diagnostic,
 * never an exception. Knows the forms and YAML, knows no rule about what a skill must have.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Json } from "../skill/manifest.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { Fault } from "./fault.ts";
import { locateKey } from "./locate-key.ts";
import type { FrontmatterReading } from "./read-frontmatter.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { MAX_FRONTMATTER, type SplitFile, splitFrontmatter, splitYamlFile } from "./split-frontmatter.ts";
import { takeInstructions } from "./take-instructions.ts";
import { writtenScalar } from "./written-scalar.ts";

type Frontmatter = Readonly<Record<string, Json>>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NO_FAULTS: readonly Fault[] = Object.freeze([]);
const NO_DIAGNOSTICS: readonly Diagnostic[] = Object.freeze([]);

let readFully: typeof import("./read-frontmatter.ts").readFrontmatter | undefined;

/**
 * Simple frontmatter is read at once. The first file that needs the full YAML parser gets a promise, while the
 * parser is loaded; after that every file is read at once. `await` takes both.
 */
export function parseSkill(candidate: SkillCandidate, text: string): ParsedSkill | Promise<ParsedSkill> {
  const isYamlForm = candidate.form === "yaml";
  const split = isYamlForm ? splitYamlFile(text) : splitFrontmatter(text);
  const { yaml } = split;
  if (yaml === undefined) return assemble(candidate, split, undefined, NO_FAULTS);
  // The YAML form holds the instructions too, which may be long; the simple reader takes any length.
  const simple = isYamlForm || yaml.length <= MAX_FRONTMATTER ? parseSimpleYaml(yaml) : undefined;
  if (simple !== undefined) return assemble(candidate, split, simple, NO_FAULTS);
  if (readFully !== undefined) return assembleReading(candidate, readFully(split));
  return loadAndRead(candidate, split);
}

async function loadAndRead(candidate: SkillCandidate, split: SplitFile): Promise<ParsedSkill> {
  const { readFrontmatter } = await import("./read-frontmatter.ts");
  readFully = readFrontmatter;
  return assembleReading(candidate, readFrontmatter(split));
}

function assembleReading(candidate: SkillCandidate, reading: FrontmatterReading): ParsedSkill {
  return assemble(candidate, reading.split, reading.frontmatter, reading.faults);
}

function assemble(
  candidate: SkillCandidate,
  split: SplitFile,
  data: Frontmatter | undefined,
  faults: readonly Fault[],
): ParsedSkill {
  const { yaml = "", yamlLine } = split;
  const taken = candidate.form === "yaml" && data !== undefined ? takeInstructions(data, split) : undefined;
  const { body, bodyLine } = taken ?? split;
  const parsed: Writable<ParsedSkill> = {
    candidate,
    body,
    bodyLine,
    position: (key) => locateKey(yaml, yamlLine, key),
    written: (...path) => writtenScalar(yaml, path),
    diagnostics: toDiagnostics(candidate.file, split.faults, faults, taken?.faults ?? NO_FAULTS),
  };
  const frontmatter = taken?.frontmatter ?? data;
  if (frontmatter !== undefined) parsed.frontmatter = frontmatter;
  return parsed;
}

/** Of a sound skill there are none, and no list is made for it. */
function toDiagnostics(
  path: string,
  ofFile: readonly Fault[],
  ofFrontmatter: readonly Fault[],
  ofInstructions: readonly Fault[],
): readonly Diagnostic[] {
  if (ofFile.length + ofFrontmatter.length + ofInstructions.length === 0) return NO_DIAGNOSTICS;
  return [...ofFile, ...ofFrontmatter, ...ofInstructions].map((fault) => ({ ...fault, path }));
}
