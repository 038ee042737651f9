/**
 * Whether a skill's files are unchanged, without reading or listing any: from the stamps of all files and their
 * folders, since a folder's stamp changes when anything is added or removed.
 */
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "@metier/base/files";
import { stampOf } from "../trust/content-identity.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { isSettled, lastChange } from "./stamps.ts";

export interface ContentStamps {
  /** `false` also if it is unknown. */
  hold(): boolean;
}

/** Checking more takes longer than reading it again. */
const MOST_ENTRIES = 200;

/**
 * The stamps of a skill's folder. `undefined` if they do not prove its content: one of them is so recent that another
 * change may not show, a link leads elsewhere, it is very large, or it cannot be read.
 */
export function stampContent({ location, directory }: SkillContent): ContentStamps | undefined {
  // Taken before any check: what changes in the meantime is too recent.
  const now = Date.now();
  try {
    const real = realpathSync.native(location);
    const root = realpathSync.native(directory);
    const listing = listFiles(root, MOST_ENTRIES);
    if (!listing.ok || listing.files.some(({ kind }) => kind !== "file")) return undefined;
    const paths = [...listing.folders, ...listing.files.map(({ path }) => path)].map((path) =>
      join(root, path),
    );
    if (!paths.includes(real)) return undefined;
    const stamps: string[] = [];
    for (const path of paths) {
      const stats = lstatSync(path, { bigint: true });
      if (!isSettled(lastChange(stats), now)) return undefined;
      stamps.push(stampOf(stats));
    }
    return { hold: () => isSame(location, real, paths, stamps) };
  } catch {
    return undefined; // It is gone or unreachable, which reading it will show.
  }
}

function isSame(
  location: string,
  real: string,
  paths: readonly string[],
  stamps: readonly string[],
): boolean {
  try {
    // Trust depends on a skill's real path.
    if (realpathSync.native(location) !== real) return false;
    return paths.every((path, index) => stampOf(lstatSync(path, { bigint: true })) === stamps[index]);
  } catch {
    return false; // Part of it is gone or unreachable.
  }
}
