/** Checks files, folders, whole trees or a given object, or writes safe repairs. Loads nothing. */
import { compareDiagnostics, type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { readBounded, writeAtomic } from "@metier/base/files";
import type { CheckedSkill, ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import type { SearchOptions } from "../sources/search.ts";
import { searchRoot } from "../sources/search-root.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { fixSkill } from "../validate/fix-skill.ts";
import { inspectSkill } from "../validate/inspect-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import { type GivenSkill, placeGiven } from "./place-skills.ts";
import { isNoSkill, MAX_SKILL_BYTES, readSkill } from "./read-root.ts";

/** What the rules say about one skill. */
export interface ValidationResult {
  /** The skill file, absolute; `""` for a skill defined in code. */
  readonly path: string;
  /** Its actual or future name. */
  readonly name: string;
  /** Whether no diagnostic has the severity `error`. */
  readonly valid: boolean;
  /** What the profile's rules found in this skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of `validate`: one entry for each skill found at the paths. */
export interface ValidationReport {
  /** At least one skill was found and all are valid. */
  readonly valid: boolean;
  /** One for each skill file. */
  readonly results: readonly ValidationResult[];
  /** About the paths themselves: missing, unreadable, hidden by a `.gitignore`, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

interface ValidationOptions {
  /** Loads a tokenizer; called if a body may be too long. Without one its tokens are estimated. */
  readonly loadCounter?: () => Promise<(text: string) => number>;
}

/** Paths are absolute. A nested skill is checked like any other. */
export async function validatePaths(
  paths: readonly string[],
  profile: Profile,
  options: ValidationOptions = {},
): Promise<ValidationReport> {
  const results = new Map<string, ValidationResult>();
  const validate = async (candidate: SkillCandidate, asked: string): Promise<boolean> => {
    const { file: path, defaultName } = candidate;
    const { checked } = await readSkill(candidate, profile, inspectSkill);
    if (isNoSkill(candidate, asked, checked)) return false;
    const { manifest, valid, diagnostics } = await measureLong(candidate, checked, profile, options);
    results.set(path, { path, name: manifest?.name ?? defaultName, valid, diagnostics });
    return true;
  };
  const diagnostics = await visitPaths(paths, validate, reportNoSkill);
  const list = [...results.values()];
  return {
    valid: list.length > 0 && list.every(({ valid }) => valid) && !hasErrors(diagnostics),
    results: list,
    diagnostics: diagnostics.sort(compareDiagnostics),
  };
}

/** In some scripts a character is a token, so a body of this many may exceed the recommended size. */
const MAYBE_LONG = 10_000;

async function measureLong(
  candidate: SkillCandidate,
  checked: CheckedSkill,
  profile: Profile,
  { loadCounter }: ValidationOptions,
): Promise<CheckedSkill> {
  if (loadCounter === undefined || checked.body.characters < MAYBE_LONG) return checked;
  const countTokens = await loadCounter();
  const inspect = (parsed: ParsedSkill, under: Profile): CheckedSkill =>
    inspectSkill(parsed, under, countTokens);
  return (await readSkill(candidate, profile, inspect)).checked;
}

/** Every candidate at some absolute paths, in turn; `visit` returns whether it was a skill. */
export async function visitPaths(
  paths: readonly string[],
  visit: (candidate: SkillCandidate, path: string) => Promise<boolean>,
  reportNone: (path: string) => Diagnostic,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const path of paths) {
    const search = searchRoot(...searchOptions(path, paths));
    diagnostics.push(...search.diagnostics);
    let hasSkill = false;
    for (const { candidate } of search.found) if (await visit(candidate, path)) hasSkill = true;
    if (!hasSkill && search.outcome === "searched") diagnostics.push(reportNone(path));
  }
  return diagnostics;
}

/** Searches a path named by the user like a custom source, with nested skills as separate ones. */
export function searchOptions(
  path: string,
  paths: readonly string[],
): [root: SkillRoot, options: SearchOptions] {
  return [
    { scope: "custom", kind: "foreign", path, rank: 0, explicit: true, grantFolder: path },
    { knownRoots: new Set(paths), nested: true },
  ];
}

/** A skill that the embedding program would define in code. */
export async function validateGiven(skill: GivenSkill, profile: Profile): Promise<ValidationReport> {
  const { diagnostics } = placeGiven([skill], { profile, integrationRank: 0 });
  const valid = !hasErrors(diagnostics);
  return { valid, results: [{ path: "", name: skill.name, valid, diagnostics }], diagnostics: [] };
}

function reportNoSkill(path: string): Diagnostic {
  return {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; `metier new <name>` creates one.",
  };
}

export interface FixedFile {
  readonly path: string;
  /** The codes of the fixed problems. */
  readonly repairs: readonly string[];
}

/**
 * `validate --fix`, file by file. Paths are absolute. A file that is not UTF-8 is left alone: writing it back would
 * lose bytes.
 */
export async function fixPaths(paths: readonly string[], profile: Profile): Promise<readonly FixedFile[]> {
  const fixedFiles = new Map<string, FixedFile>();
  const fix = async (candidate: SkillCandidate, asked: string): Promise<boolean> => {
    const path = candidate.file;
    const { checked } = await readSkill(candidate, profile);
    if (isNoSkill(candidate, asked, checked)) return false;
    const read = readBounded(path, MAX_SKILL_BYTES);
    if (!read.ok || read.notUtf8) return true;
    const { text, fixed } = await fixSkill(read.text, candidate, profile);
    if (text === read.text) return true;
    // Someone may have saved the file in the meantime; their version stays.
    const isUnchanged = (): boolean => {
      const now = readBounded(path, MAX_SKILL_BYTES);
      return now.ok && now.text === read.text;
    };
    const isWritten = writeAtomic(path, text, { onlyIf: isUnchanged });
    if (isWritten) fixedFiles.set(path, { path, repairs: [...new Set(fixed.map(({ code }) => code))] });
    return true;
  };
  await visitPaths(paths, fix, reportNoSkill);
  return [...fixedFiles.values()];
}
