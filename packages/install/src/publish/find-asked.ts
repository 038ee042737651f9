/** Finds the requested skills: catalog names, and paths of skills or folders of skills. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { isInside, type Places, realPathOr } from "@metier/base/places";
import {
  type Catalog,
  candidateForFile,
  isNoSkill,
  readSkill,
  type Skill,
  type SkillCandidate,
  searchOptions,
  searchRoot,
} from "@metier/skills";
import type { LoadedConfig } from "@metier/skills/config";

/** What publishing needs from a `Metier`. */
export interface PublishingHost {
  /** All skills it knows. */
  readonly catalog: Catalog;
  /** The config that was loaded. */
  readonly config: LoadedConfig;
  /** Where Metier keeps its files. */
  readonly places: Places;
  /** Returns the skill of this name. Throws `SkillNotFoundError` if there is none. */
  require(name: string): Skill;
}

/** Progress over many skills. */
export interface PublishProgress {
  /** The current action, for people. */
  readonly what: string;
  /** Skills done so far. */
  readonly done: number;
  /** Total number of skills. */
  readonly total: number;
}

interface AskedSkills {
  /** Each once, however many links lead to it. */
  readonly skills: readonly SkillCandidate[];
  /** About the paths: missing, unreadable, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * An existing path, or anything with a slash, is a path; anything else is a name, and an unknown one throws
 * `SkillNotFoundError`. A skill inside another is part of it. `cwd`: for relative paths; without any name or path, all
 * skills in it are meant. `output`: where a command writes; skills that an earlier run put there do not count for a
 * folder around it.
 */
export async function findAsked(
  metier: Pick<PublishingHost, "require">,
  asked: readonly string[],
  cwd: string,
  output?: string,
): Promise<AskedSkills> {
  const skills = new Map<string, SkillCandidate>();
  const diagnostics: Diagnostic[] = [];
  for (const text of asked.length > 0 ? asked : ["."]) {
    const path = resolve(cwd, text);
    const isPath = existsSync(path) || /[/\\]/.test(text);
    const found = isPath
      ? await findAt(path, output)
      : { skills: [findNamed(metier, text)], diagnostics: [] };
    for (const skill of found.skills) skills.set(realPathOr(skill.file), skill);
    diagnostics.push(...found.diagnostics);
  }
  return { skills: [...skills.values()], diagnostics };
}

function findNamed(metier: Pick<PublishingHost, "require">, name: string): SkillCandidate {
  const { location, form, directory, remote } = metier.require(name);
  if (location !== "" && remote === undefined) return candidateForFile(location, form, directory);
  const where = remote ? `is on the server \`${remote.server}\`` : "was defined in code and has no file";
  throw new UsageError(`Skill \`${name}\` ${where}.`, {
    hint: "Name a skill in one of your folders.",
  });
}

async function findAt(path: string, output: string | undefined): Promise<AskedSkills> {
  const isOutput = (file: string): boolean =>
    output !== undefined && isInside(file, output) && !isInside(path, output);
  const [root, options] = searchOptions(path, [path]);
  const scan = searchRoot(root, { ...options, nested: false });
  const skills: SkillCandidate[] = [];
  for (const { candidate } of scan.found) {
    if (isOutput(candidate.file)) continue;
    const { checked } = await readSkill(candidate, "lenient");
    if (!isNoSkill(candidate, path, checked)) skills.push(candidate);
  }
  if (skills.length > 0 || scan.outcome !== "searched") return { skills, diagnostics: scan.diagnostics };
  const none: Diagnostic = {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of skills.",
  };
  return { skills, diagnostics: [...scan.diagnostics, none] };
}
