/** What stands at a place that a lock records for another client: nothing, what Metier put there, or something else. */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Places } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { LockEntry, PlacedCopy } from "../lock/lock-entry.ts";
import {
  isWithinOwner,
  type LockFile,
  lockedFolder,
  placedFolder,
  storeFolder,
} from "../lock/lock-places.ts";
import { identifyFolder } from "../trust/content-identity.ts";
import { isClientPath } from "./clients.ts";

/** `earlier`: Metier's own, but not what the lock records now. `refused`: no place that the lock may name. */
export type PlaceState = "missing" | "right" | "earlier" | "foreign" | "refused";

export interface PlaceContext {
  readonly places: Pick<Places, "store">;
  readonly lockFile: LockFile;
}

/**
 * `digests` are further contents that Metier put there. A project's lock may come from anyone, so that what it names is
 * looked at only where a client looks for this skill.
 */
export function stateOfPlace(
  copy: PlacedCopy,
  entry: LockEntry,
  context: PlaceContext,
  digests: readonly string[] = [],
): PlaceState {
  const { lockFile } = context;
  const place = placedFolder(lockFile, copy);
  const isAllowed = lockFile.owner === "user" || isClientPath(copy.path, entry.name);
  if (!isAllowed || !isWithinOwner(lockFile, place)) return "refused";
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return stateOfLink(place, copy, entry, context);
  if (!stats.isDirectory()) return "foreign";
  const found = identifyFolder(place);
  if (!found.ok) return "foreign";
  const { digest } = found.identity;
  if (digest === entry.digest) return copy.how === "copy" ? "right" : "earlier";
  const isOwn =
    [entry.previous?.digest, ...digests].includes(digest) ||
    // A version that someone was killed over before the copy followed.
    existsSync(storeFolder(context.places, { name: entry.name, digest }));
  return isOwn ? "earlier" : "foreign";
}

/** The first place of an entry at which something stands that Metier did not put there. */
export function findForeignPlace(entry: LockEntry, context: PlaceContext): string | undefined {
  const foreign = entry.placed?.find((copy) => {
    return ["foreign", "refused"].includes(stateOfPlace(copy, entry, context));
  });
  return foreign && placedFolder(context.lockFile, foreign);
}

function stateOfLink(
  place: string,
  { how }: PlacedCopy,
  entry: LockEntry,
  { places, lockFile }: PlaceContext,
): PlaceState {
  const target = resolve(realPathOr(dirname(place)), readlinkSync(place));
  const folder = realPathOr(lockedFolder(places, lockFile, entry));
  if (realPathOr(target) === folder) return how === "link" ? "right" : "earlier";
  const own = storeFolder({ store: realPathOr(places.store) }, entry);
  const isVersion = skillIn(target) === skillIn(own) && (dirname(target) === dirname(own) || isLost(target));
  return isVersion ? "earlier" : "foreign";
}

/** A folder of the store without its version; one that is gone has a name, too. */
function skillIn(folder: string): string {
  return basename(folder).replace(/@[0-9a-f]{16}$/, "@");
}

/** As a checkout brings it that was made on another machine, where the store is another one. */
function isLost(target: string): boolean {
  return dirname(target).endsWith(join(sep, ".metier", "store")) && !existsSync(target);
}
