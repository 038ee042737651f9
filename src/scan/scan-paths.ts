/** Scans whatever skills lie at some paths: a skill file, a skill's folder, a tree of them. */
import { isNoSkill } from "../catalog/read-root.ts";
import { readSkill } from "../catalog/read-skill.ts";
import { visitPaths } from "../catalog/validate-paths.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import { type ScanReport, type ScanSkillOptions, scanSkill } from "./scan-skill.ts";

export interface ScannedPath extends ScanReport {
  /** The skill file, absolute. */
  readonly location: string;
  readonly directory: string;
  /** A lock lists it, and every version of it has another folder. */
  readonly isInstalled?: true;
}

export interface PathsReport {
  readonly skills: readonly ScannedPath[];
  /** About the paths themselves: missing, unreadable, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Paths are absolute. A skill below another is scanned with it, and as one of its own. */
export async function scanPaths(
  paths: readonly string[],
  options: ScanSkillOptions = {},
): Promise<PathsReport> {
  const skills = new Map<string, ScannedPath>();
  const scan = async (candidate: SkillCandidate, path: string): Promise<boolean> => {
    const { form, file: location, directory } = candidate;
    const { checked } = await readSkill(candidate, "lenient");
    if (isNoSkill(candidate, path, checked)) return false;
    if (skills.has(location)) return true;
    const name = checked.manifest?.name ?? candidate.defaultName;
    const report = await scanSkill({ form, location, directory }, { name, ...options });
    skills.set(location, { ...report, location, directory });
    return true;
  };
  const diagnostics = await visitPaths(paths, scan, reportNoSkill);
  return { skills: [...skills.values()], diagnostics };
}

function reportNoSkill(path: string): Diagnostic {
  return {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill was found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of them.",
  };
}
