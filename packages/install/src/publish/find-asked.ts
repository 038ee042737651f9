/** Which skills someone means: names of the catalog, and paths of skills or of folders of skills. */
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

/** What publishing needs of a `Metier`. */
export interface PublishingHost {
  /** All skills that it knows. */
  readonly catalog: Catalog;
  /** The config that was loaded. */
  readonly config: LoadedConfig;
  /** Where Metier keeps its files. */
  readonly places: Places;
  /** Gives the skill of this name. Throws `SkillNotFoundError` if there is none. */
  require(name: string): Skill;
}

/** How far a look at many skills has come. */
export interface PublishProgress {
  /** What is done now, for people. */
  readonly what: string;
  /** Skills that are done. */
  readonly done: number;
  /** Skills in all. */
  readonly total: number;
}

interface AskedSkills {
  /** Each once, however many links lead to it. */
  readonly skills: readonly SkillCandidate[];
  /** About the paths: missing, unreadable, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * A text that is there as a path, or has a slash, is a path; anything else is a name, and one that no skill has throws
 * `SkillNotFoundError`. A skill below another is part of that one. `cwd`: for relative paths; without any name or path, all
 * skills below it are meant. `output`: what a command writes to; skills that an earlier one put there are not meant by a
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
  const where = remote ? `lies on the server \`${remote.server}\`` : "was given as an object and has no file";
  throw new UsageError(`Skill \`${name}\` ${where}.`, {
    hint: "Name a skill that lies in a folder of yours.",
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
    message: `No skill was found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of them.",
  };
  return { skills, diagnostics: [...scan.diagnostics, none] };
}
