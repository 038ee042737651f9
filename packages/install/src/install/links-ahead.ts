/**
 * The links of many skills in other clients' folders, made in the quarantine while the skills are reviewed and stored. When
 * the lock lists them, each only gets its name: on some systems, making a link takes a hundred times as long.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { realPathOr } from "@metier/base/places";
import { type LockEntry, type LockFile, lockedFolder, placedFolder } from "@metier/skills/trust";
import type { Quarantine } from "./fetch-source.ts";
import type { InstallParts } from "./requests.ts";
import { MAKE_HERE, WORTH_A_THREAD } from "./tree-maker.ts";

export interface LinksAhead {
  /** Waits until they are made. */
  ready(): Promise<void>;
  /** The path of the one for a place, if they are. */
  get(place: string): string | undefined;
}

interface LinksContext {
  readonly parts: Pick<InstallParts, "places">;
  readonly lockFile: LockFile;
  readonly quarantine: Quarantine;
}

/** None for few: they are made in their places. */
export function makeLinksAhead(
  entries: readonly LockEntry[],
  { parts, lockFile, quarantine }: LinksContext,
): LinksAhead | undefined {
  const placed = entries.flatMap((entry) => {
    const folder = lockedFolder(parts.places, lockFile, entry);
    const links = entry.placed?.filter(({ how }) => how === "link") ?? [];
    return links.map((copy) => ({ folder, place: placedFolder(lockFile, copy) }));
  });
  if (placed.length < WORTH_A_THREAD) return undefined;
  const maker = quarantine.makerOf(placed.length);
  if (maker === MAKE_HERE) return undefined; // No thread: nothing would be gained.
  const within = quarantine.makeFolder();
  const realParent = rememberParents();
  const paths = new Map<string, string>();
  for (const { folder, place } of placed) {
    const path = join(within, String(paths.size));
    maker.makeLink(path, relative(realParent(place), join(realParent(folder), basename(folder))));
    paths.set(place, path);
  }
  let areMade = false;
  return {
    async ready() {
      areMade = await maker.finish().then(
        () => true,
        () => false, // All are then made in their places.
      );
    },
    get: (place) => (areMade ? paths.get(place) : undefined),
  };
}

/** The real path that the folder around a path has or will have; it is the same for most. */
function rememberParents(): (path: string) => string {
  const known = new Map<string, string>();
  const resolve = (folder: string): string => {
    const real =
      known.get(folder) ??
      (existsSync(folder) || dirname(folder) === folder
        ? realPathOr(folder)
        : join(resolve(dirname(folder)), basename(folder)));
    known.set(folder, real);
    return real;
  };
  return (path) => resolve(dirname(path));
}
