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
import { openTreeMaker, WORTH_A_THREAD } from "./tree-maker.ts";

export interface LinksAhead {
  /** Waits until they are made. */
  ready(): Promise<void>;
  /** The path of one that leads there, if they are. */
  get(target: string): string | undefined;
  close(): Promise<void>;
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
  const real = rememberReal();
  const targets = entries.flatMap((entry) => {
    const folder = lockedFolder(parts.places, lockFile, entry);
    const links = entry.placed?.filter(({ how }) => how === "link") ?? [];
    return links.map((copy) => relative(real(dirname(placedFolder(lockFile, copy))), real(folder)));
  });
  if (targets.length < WORTH_A_THREAD) return undefined;
  const within = quarantine.makeFolder();
  const maker = openTreeMaker(targets.length);
  const paths = new Map(targets.map((target, number) => [target, join(within, String(number))]));
  for (const [target, path] of paths) maker.makeLink(path, target);
  let areMade = false;
  return {
    async ready() {
      areMade = await maker.finish().then(
        () => true,
        () => false, // All are then made in their places.
      );
    },
    get: (target) => (areMade ? paths.get(target) : undefined),
    close: maker.close,
  };
}

/** The real path that a path will have; of thousands in one folder, the folder is resolved once. */
function rememberReal(): (path: string) => string {
  const known = new Map<string, string>();
  const resolve = (path: string): string => {
    const real = known.get(path) ?? (existsSync(path) ? realPathOr(path) : below(path));
    known.set(path, real);
    return real;
  };
  const below = (path: string): string =>
    dirname(path) === path ? path : join(resolve(dirname(path)), basename(path));
  return (path) => (existsSync(path) ? resolve(path) : below(path));
}
