/** Scans all skills at some paths; scanning starts while the search is still running. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { isNoSkill, readSkill, type SkillCandidate, visitPaths } from "@metier/skills";
import type { SkillContent } from "@metier/skills/trust";
import { openScanPool } from "./scan-pool.ts";
import type { ScanReport, ScanSkillOptions } from "./scan-skill.ts";

/** The scan of one skill, and where the skill is. */
export interface ScannedPath extends ScanReport {
  /** The skill file, absolute. */
  readonly location: string;
  /** The skill's folder, absolute. */
  readonly directory: string;
  /** A lock lists it, and every version has another folder. */
  readonly isInstalled?: true;
}

/** The scans of all skills found at some paths. */
export interface PathsReport {
  /** One report per skill. */
  readonly skills: readonly ScannedPath[];
  /** About the paths themselves: missing, unreadable, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Paths are absolute. A skill inside another is scanned with it, and also separately. */
export async function scanPaths(
  paths: readonly string[],
  options: ScanSkillOptions = {},
  onSkill?: (done: number, total: number) => void,
  cacheFolder?: string,
): Promise<PathsReport> {
  const pool = openScanPool(options, cacheFolder);
  try {
    const found = new Map<string, SkillContent>();
    const note = async (candidate: SkillCandidate, path: string): Promise<boolean> => {
      const { form, file: location, directory } = candidate;
      const isFolder = form === "directory"; // It is a skill, whatever it contains.
      if (!isFolder && isNoSkill(candidate, path, (await readSkill(candidate, "lenient")).checked))
        return false;
      if (found.has(location)) return true;
      const subject = { form, location, directory };
      found.set(location, subject);
      pool.add({ subject, candidate });
      return true;
    };
    const diagnostics = await visitPaths(paths, note, reportNoSkill);
    const reports = await pool.finish(onSkill);
    const places = [...found.values()];
    const skills = reports.flatMap((report, index): readonly ScannedPath[] => {
      const place = places[index];
      return place ? [{ ...report, location: place.location, directory: place.directory }] : [];
    });
    return { skills, diagnostics };
  } finally {
    await pool.close();
  }
}

function reportNoSkill(path: string): Diagnostic {
  return {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of skills.",
  };
}
