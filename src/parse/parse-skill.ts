/**
 * The parse stage: a candidate and its text become a ParsedSkill. Whatever is wrong with the file is a diagnostic,
 * never an exception. Knows the forms and YAML, knows no rule about what a skill must have.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { Fault } from "./fault.ts";
import { locateKey } from "./locate-key.ts";
import type { FrontmatterReading } from "./read-frontmatter.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { MAX_FRONTMATTER, splitFrontmatter, splitYamlFile } from "./split-frontmatter.ts";
import { takeInstructions } from "./take-instructions.ts";
import { writtenScalar } from "./written-scalar.ts";

const NO_FAULTS: readonly Fault[] = [];

let readFully: typeof import("./read-frontmatter.ts").readFrontmatter | undefined;

/**
 * Simple frontmatter is read at once. The first file that needs the full YAML parser gets a promise, while the
 * parser is loaded; after that every file is read at once. `await` takes both.
 */
export function parseSkill(candidate: SkillCandidate, text: string): ParsedSkill | Promise<ParsedSkill> {
  const isYamlForm = candidate.form === "yaml";
  const split = isYamlForm ? splitYamlFile(text) : splitFrontmatter(text);
  if (split.yaml === undefined)
    return assemble(candidate, { split, frontmatter: undefined, faults: NO_FAULTS });
  // The YAML form holds the instructions too, which may be long; the simple reader takes any length.
  const simple = isYamlForm || split.yaml.length <= MAX_FRONTMATTER ? parseSimpleYaml(split.yaml) : undefined;
  if (simple !== undefined) return assemble(candidate, { split, frontmatter: simple, faults: NO_FAULTS });
  if (readFully !== undefined) return assemble(candidate, readFully(split));
  return import("./read-frontmatter.ts").then(({ readFrontmatter }) => {
    readFully = readFrontmatter;
    return assemble(candidate, readFrontmatter(split));
  });
}

function assemble(
  candidate: SkillCandidate,
  { split, frontmatter, faults }: FrontmatterReading,
): ParsedSkill {
  const { yaml = "", yamlLine } = split;
  const content =
    candidate.form === "yaml" && frontmatter !== undefined
      ? takeInstructions(frontmatter, split)
      : { frontmatter, body: split.body, bodyLine: split.bodyLine, faults: NO_FAULTS };
  return {
    candidate,
    ...(content.frontmatter !== undefined && { frontmatter: content.frontmatter }),
    body: content.body,
    bodyLine: content.bodyLine,
    position: (key) => locateKey(yaml, yamlLine, key),
    written: (...path) => writtenScalar(yaml, path),
    diagnostics: toDiagnostics([...split.faults, ...faults, ...content.faults], candidate.file),
  };
}

function toDiagnostics(faults: readonly Fault[], path: string): readonly Diagnostic[] {
  return faults.map((fault) => ({ ...fault, path }));
}
