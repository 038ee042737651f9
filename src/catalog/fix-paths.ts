/** `validate --fix` over files, folders and trees: writes the repairs that are safe, file by file. */
import { readBounded } from "../host/read-bounded.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { scanRoot } from "../sources/scan-root.ts";
import { fixSkill } from "../validate/fix-skill.ts";
import type { Profile } from "../validate/profiles.ts";
import { isNoSkill } from "./read-root.ts";
import { MAX_SKILL_BYTES, readSkill } from "./read-skill.ts";
import { searchOptions } from "./validate-paths.ts";

export interface FixedFile {
  readonly path: string;
  /** The codes of the problems that are gone. */
  readonly repairs: readonly string[];
}

/** Paths are absolute. A file that is not UTF-8 is left alone: writing it back would lose bytes. */
export async function fixPaths(paths: readonly string[], profile: Profile): Promise<readonly FixedFile[]> {
  const fixedFiles = new Map<string, FixedFile>();
  for (const path of paths) {
    const { found } = scanRoot(...searchOptions(path, paths));
    for (const { candidate } of found) {
      const { checked } = await readSkill(candidate, profile);
      if (isNoSkill(candidate, path, checked)) continue;
      const read = readBounded(candidate.file, MAX_SKILL_BYTES);
      if (!read.ok || read.notUtf8) continue;
      const { text, fixed } = await fixSkill(read.text, candidate, profile);
      if (text === read.text) continue;
      // Someone may have saved the file meanwhile; their version stays.
      const isUnchanged = (): boolean => {
        const now = readBounded(candidate.file, MAX_SKILL_BYTES);
        return now.ok && now.text === read.text;
      };
      if (!writeAtomic(candidate.file, text, { onlyIf: isUnchanged })) continue;
      fixedFiles.set(candidate.file, {
        path: candidate.file,
        repairs: [...new Set(fixed.map(({ code }) => code))],
      });
    }
  }
  return [...fixedFiles.values()];
}
