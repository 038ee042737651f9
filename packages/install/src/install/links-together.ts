/**
 * Makes the links of many skills in other clients' folders: on the thread that made their files, while this one does what else
 * is left after the lock lists them. Only where nothing is. At the first that cannot be made it stops; `fan-out.ts` then makes
 * each, and says why one cannot be.
 */
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type RealPathOf, realPathOr, rememberRealPaths } from "@metier/base/places";
import {
  isWithinOwner,
  type LockEntry,
  type LockFile,
  lockedFolder,
  placedFolder,
} from "@metier/skills/trust";
import { type PlaceContext, stateOfPlace } from "./clients.ts";
import { type LinkedPlaces, linkTarget } from "./fan-out.ts";
import type { Quarantine } from "./fetch-source.ts";
import { MAKE_HERE, WORTH_A_THREAD } from "./tree-maker.ts";

const NONE: LinkedPlaces = new Map<string, string>();

interface LinksContext extends PlaceContext {
  readonly quarantine: Pick<Quarantine, "makerOf">;
}

/** Begins at once. Resolves to those that are made: all that may be, or none. */
export async function linkTogether(
  entries: readonly LockEntry[],
  context: LinksContext,
): Promise<LinkedPlaces> {
  try {
    const missing = entries.flatMap((entry) => findMissing(entry, context));
    const maker = missing.length < WORTH_A_THREAD ? MAKE_HERE : context.quarantine.makerOf(missing.length);
    if (maker === MAKE_HERE || !makeParents(missing, context.lockFile)) return NONE;
    const realPathOf = knowStore(missing, context);
    const targets = new Map<string, string>();
    for (const { folder, place } of missing) {
      const target = linkTarget(folder, place, realPathOf);
      maker.makeLink(place, target);
      targets.set(place, target);
    }
    await maker.finish();
    return targets;
  } catch {
    return NONE; // Whoever makes each says why one cannot be made.
  }
}

interface MissingLink {
  readonly folder: string;
  readonly place: string;
}

/** A project's own copy is made later, and then its links. */
function findMissing(entry: LockEntry, context: PlaceContext): readonly MissingLink[] {
  if (entry.copied) return [];
  const { places, lockFile } = context;
  const folder = lockedFolder(places, lockFile, entry);
  return (entry.placed ?? [])
    .filter((copy) => copy.how === "link" && stateOfPlace(copy, entry, context) === "missing")
    .map((copy) => ({ folder, place: placedFolder(lockFile, copy) }));
}

/** Whether all belong to the lock's owner: someone may have put a link on the way since each was looked at. */
function makeParents(missing: readonly MissingLink[], lockFile: LockFile): boolean {
  const parents = new Map(missing.map(({ place }) => [dirname(place), place]));
  return [...parents].every(([parent, place]) => {
    mkdirSync(parent, { recursive: true });
    return isWithinOwner(lockFile, place);
  });
}

/** Folders in the store were just put there and are no links, so none of them is asked for. */
function knowStore(missing: readonly MissingLink[], { places: { store } }: PlaceContext): RealPathOf {
  const real = realPathOr(store);
  const stored = missing.filter(({ folder }) => dirname(folder) === store);
  return rememberRealPaths(stored.map(({ folder }) => [folder, join(real, basename(folder))]));
}
