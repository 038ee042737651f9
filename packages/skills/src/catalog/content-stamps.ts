/**
 * Whether the files of a skill are what they were, without reading or listing any: by the stamps of all of them and of their
 * folders, since nothing comes into a folder or goes without a change of its stamp.
 */
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "@metier/base/files";
import { stampOf } from "../trust/content-identity.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { isSettled, lastChange } from "./stamps.ts";

export interface ContentStamps {
  /** `false` also where it cannot be told. */
  hold(): boolean;
}

/** To look at more takes longer than to read it anew. */
const MOST_ENTRIES = 200;

/**
 * The stamps of a skill's folder. `undefined` where they do not tell its content: one of them is so young that another
 * change may not show, a link leads elsewhere, it is very large, or cannot be read.
 */
export function stampContent({ location, directory }: SkillContent): ContentStamps | undefined {
  // From before anything is looked at: what changes meanwhile is too young.
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
    return undefined; // It is gone, or out of reach, which reading it will show.
  }
}

function isSame(
  location: string,
  real: string,
  paths: readonly string[],
  stamps: readonly string[],
): boolean {
  try {
    // Trust is decided by where a skill really is.
    if (realpathSync.native(location) !== real) return false;
    return paths.every((path, index) => stampOf(lstatSync(path, { bigint: true })) === stamps[index]);
  } catch {
    return false; // Something of it has gone, or is out of reach.
  }
}
