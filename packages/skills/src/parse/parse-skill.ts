/**
 * The parse stage: turns a candidate and its text into a ParsedSkill. Problems in the file are diagnostics, never
 * exceptions. Knows the forms and YAML, but no rule about what a skill must have.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type { ParsedHead, ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { FrontmatterReading } from "./read-frontmatter.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { HEAD_LINE, type SkillHead } from "./skill-head.ts";
import {
  countLineEnds,
  formFault,
  locateKey,
  type UnplacedDiagnostic,
  warnAt,
  writtenScalar,
} from "./source-text.ts";
import { MAX_FRONTMATTER, type SplitFile, splitFrontmatter, splitYamlFile } from "./split-frontmatter.ts";

const NO_FAULTS: readonly UnplacedDiagnostic[] = Object.freeze([]);
const NO_DIAGNOSTICS: readonly Diagnostic[] = Object.freeze([]);

let readFully: typeof import("./read-frontmatter.ts").readFrontmatter | undefined;

/**
 * Simple frontmatter is read synchronously. The first file that needs the full YAML parser returns a promise, while the
 * parser is loaded; after that every file is read synchronously. `await` handles both.
 */
export function parseSkill(candidate: SkillCandidate, text: string): ParsedSkill | Promise<ParsedSkill> {
  const isYamlForm = candidate.form === "yaml";
  const split = isYamlForm ? splitYamlFile(text) : splitFrontmatter(text);
  const { yaml } = split;
  if (yaml === undefined) return assemble(candidate, { split, frontmatter: undefined, faults: NO_FAULTS });
  // The YAML form also contains the instructions, which may be long; the simple reader accepts any length.
  const simple = isYamlForm || yaml.length <= MAX_FRONTMATTER ? parseSimpleYaml(yaml) : undefined;
  if (simple !== undefined) return assemble(candidate, { split, frontmatter: simple, faults: NO_FAULTS });
  if (readFully !== undefined) return assemble(candidate, readFully(split));
  return loadAndRead(candidate, split);
}

/**
 * The same for a file without faults whose frontmatter and body were already split. `undefined` if its YAML needs the
 * full parser, which may split the file differently.
 */
export function parseHead(candidate: SkillCandidate, { yaml, bodyLine }: SkillHead): ParsedHead | undefined {
  const frontmatter = parseSimpleYaml(yaml);
  if (frontmatter === undefined) return undefined;
  return {
    candidate,
    frontmatter,
    bodyLine,
    position: (key) => locateKey(yaml, HEAD_LINE, key),
    written: (...path) => writtenScalar(yaml, path),
    diagnostics: NO_DIAGNOSTICS,
  };
}

async function loadAndRead(candidate: SkillCandidate, split: SplitFile): Promise<ParsedSkill> {
  const { readFrontmatter } = await import("./read-frontmatter.ts");
  readFully = readFrontmatter;
  return assemble(candidate, readFrontmatter(split));
}

function assemble(
  candidate: SkillCandidate,
  { split, frontmatter: data, faults }: FrontmatterReading,
): ParsedSkill {
  const { yaml = "", yamlLine } = split;
  const hasInstructions =
    candidate.form === "yaml" && data !== undefined && Object.hasOwn(data, "instructions");
  const taken = hasInstructions ? takeInstructions(data, split) : undefined;
  const { body, bodyLine } = taken ?? split;
  const all = [...split.faults, ...faults, ...(taken?.faults ?? NO_FAULTS)];
  return {
    candidate,
    frontmatter: taken ? taken.frontmatter : data,
    body,
    bodyLine,
    position: (key) => locateKey(yaml, yamlLine, key),
    written: (...path) => writtenScalar(yaml, path),
    // A valid skill has none, and keeps no list.
    diagnostics: all.length === 0 ? NO_DIAGNOSTICS : all.map((fault) => ({ ...fault, path: candidate.file })),
  };
}

interface TakenInstructions extends Pick<ParsedSkill, "frontmatter" | "body" | "bodyLine"> {
  readonly faults: readonly UnplacedDiagnostic[];
}

/**
 * The YAML form has its body under the key `instructions`: it is removed from the data, with its position in the file.
 * Without the key, the text after a second `---` is the body.
 */
function takeInstructions(data: Readonly<Record<string, Json>>, split: SplitFile): TakenInstructions {
  const { instructions = null, ...frontmatter } = data;
  const { yaml = "", yamlLine } = split;
  const keyLine = locateKey(yaml, yamlLine, "instructions")?.line ?? yamlLine;
  const message = "The text below `---` was ignored: `instructions` is already the body.";
  const place = { line: split.bodyLine };
  const second = warnAt(place, "yaml.dropped", message, "Keep the instructions in one place.");
  const faults = split.body === "" ? [] : [second];
  if (instructions !== null && typeof instructions !== "string") {
    const notText = formFault("instructions.not-text", keyLine);
    return { frontmatter, body: "", bodyLine: keyLine, faults: [notText, ...faults] };
  }
  const text = instructions ?? "";
  const first = Math.max(text.search(/\S/), 0);
  const body = text.slice(text.lastIndexOf("\n", first) + 1).trimEnd();
  const isBlock = /:[ \t]*[|>]/.test(yaml.split("\n")[keyLine - yamlLine] ?? "");
  const bodyLine = keyLine + (isBlock ? 1 : 0) + countLineEnds(text, 0, first);
  return { frontmatter, body, bodyLine, faults };
}
