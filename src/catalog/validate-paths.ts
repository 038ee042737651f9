/** Checks what lies at some paths (files, folders, whole trees) or a given object; loads nothing, drops nothing. */
import { compareDiagnostics, type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import { type ScanOptions, scanRoot } from "../sources/scan-root.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import { inspectSkill } from "../validate/inspect-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import { type GivenSkill, placeGiven } from "./given-skills.ts";
import { isNoSkill } from "./read-root.ts";
import { readSkill } from "./read-skill.ts";

export interface ValidationResult {
  readonly path: string;
  /** The name it has or would get. */
  readonly name: string;
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ValidationReport {
  /** At least one skill was found and all are valid. */
  readonly valid: boolean;
  readonly results: readonly ValidationResult[];
  /** About the paths themselves: missing, unreadable, hidden by a `.gitignore`, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Paths are absolute. A skill below another is checked like any other. */
export async function validatePaths(paths: readonly string[], profile: Profile): Promise<ValidationReport> {
  const results = new Map<string, ValidationResult>();
  const validate = async (candidate: SkillCandidate, path: string): Promise<boolean> => {
    const result = await validateCandidate(candidate, profile, path);
    if (result) results.set(candidate.file, result);
    return result !== undefined;
  };
  const diagnostics = await visitPaths(paths, validate, reportNoSkill);
  const list = [...results.values()];
  return {
    valid: list.length > 0 && list.every(({ valid }) => valid) && !hasErrors(diagnostics),
    results: list,
    diagnostics: diagnostics.sort(compareDiagnostics),
  };
}

/** Every candidate at some absolute paths, in turn; `visit` says whether it was a skill. */
export async function visitPaths(
  paths: readonly string[],
  visit: (candidate: SkillCandidate, path: string) => Promise<boolean>,
  reportNone: (path: string) => Diagnostic,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const path of paths) {
    const scan = scanRoot(...searchOptions(path, paths));
    diagnostics.push(...scan.diagnostics);
    let hasSkill = false;
    for (const { candidate } of scan.found) if (await visit(candidate, path)) hasSkill = true;
    if (!hasSkill && scan.outcome === "searched") diagnostics.push(reportNone(path));
  }
  return diagnostics;
}

/** How a path named by the user is searched: like a custom source, with nested skills as skills of their own. */
export function searchOptions(
  path: string,
  paths: readonly string[],
): [root: SkillRoot, options: ScanOptions] {
  const root: SkillRoot = {
    scope: "custom",
    kind: "foreign",
    path,
    rank: 0,
    explicit: true,
    grantFolder: path,
  };
  return [root, { knownRoots: paths, nested: true }];
}

/** A skill that the embedding program would give as an object. */
export async function validateGiven(skill: GivenSkill, profile: Profile): Promise<ValidationReport> {
  const { diagnostics } = placeGiven([skill], { profile, integrationRank: 0 });
  const valid = !hasErrors(diagnostics);
  return { valid, results: [{ path: "", name: skill.name, valid, diagnostics }], diagnostics: [] };
}

async function validateCandidate(
  candidate: SkillCandidate,
  profile: Profile,
  asked: string,
): Promise<ValidationResult | undefined> {
  const { checked } = await readSkill(candidate, profile, inspectSkill);
  if (isNoSkill(candidate, asked, checked)) return undefined;
  return {
    path: candidate.file,
    name: checked.manifest?.name ?? candidate.defaultName,
    valid: checked.valid,
    diagnostics: checked.diagnostics,
  };
}

function reportNoSkill(path: string): Diagnostic {
  return {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill was found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; `metier new <name>` creates one.",
  };
}
