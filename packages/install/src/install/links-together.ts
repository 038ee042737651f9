/**
 * Makes the links of many skills in other clients' folders: on the thread that made their files, while this one does what else
 * is left after the lock lists them. Only where nothing is. At the first that cannot be made it stops; `fan-out.ts` then makes
 * each, and says why one cannot be.
 */
import { mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { rememberRealPaths } from "@metier/base/places";
import { type LockEntry, lockedFolder, placedFolder } from "@metier/skills/trust";
import { type PlaceContext, stateOfPlace } from "./clients.ts";
import type { Quarantine } from "./fetch-source.ts";
import { MAKE_HERE, WORTH_A_THREAD } from "./tree-maker.ts";

/** The places that got their link. */
export type LinkedPlaces = Pick<ReadonlySet<string>, "has">;

const NONE: LinkedPlaces = new Set();

interface LinksContext extends PlaceContext {
  readonly quarantine: Quarantine;
}

/** Begins at once. Resolves when all are made, or none may be. */
export async function linkTogether(
  entries: readonly LockEntry[],
  context: LinksContext,
): Promise<LinkedPlaces> {
  try {
    const missing = entries.flatMap((entry) => findMissing(entry, context));
    const maker = missing.length < WORTH_A_THREAD ? MAKE_HERE : context.quarantine.makerOf(missing.length);
    if (maker === MAKE_HERE) return NONE;
    const realPathOf = rememberRealPaths();
    for (const parent of new Set(missing.map(({ place }) => dirname(place))))
      mkdirSync(parent, { recursive: true });
    for (const { folder, place } of missing) {
      const target = join(realPathOf(dirname(folder)), basename(folder));
      maker.makeLink(place, relative(realPathOf(dirname(place)), target));
    }
    await maker.finish();
    return new Set(missing.map(({ place }) => place));
  } catch {
    return NONE; // Whoever makes each says why one cannot be made.
  }
}

interface MissingLink {
  readonly folder: string;
  readonly place: string;
}

function findMissing(entry: LockEntry, context: PlaceContext): readonly MissingLink[] {
  const { places, lockFile } = context;
  const folder = lockedFolder(places, lockFile, entry);
  return (entry.placed ?? [])
    .filter((copy) => copy.how === "link" && stateOfPlace(copy, entry, context) === "missing")
    .map((copy) => ({ folder, place: placedFolder(lockFile, copy) }));
}
