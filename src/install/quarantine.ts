/**
 * Where a source is fetched and looked at before anything is installed: a folder of its own for each installation, that
 * is never searched for skills and in which nothing is executed. Its name says whose it is, so that what a killed
 * process left is removed by the next one, and what a living one uses is not.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { makeOwnedName, removeAbandoned, tryToRemove } from "../host/owned-names.ts";
import type { Places } from "../host/places.ts";

export interface Quarantine {
  /** By its real path; on the same file system as the store, so that a rename takes a skill there. */
  readonly folder: string;
  /** A new, empty folder in it. */
  makeFolder(): string;
  /** Removes everything in it; what the system does not let go is left to a later installation. */
  close(): void;
}

type QuarantinePlaces = Pick<Places, "quarantine">;

export function openQuarantine(places: QuarantinePlaces): Quarantine {
  const all = places.quarantine;
  mkdirSync(all, { recursive: true, mode: 0o700 });
  removeAbandoned(all);
  const folder = join(realpathSync.native(all), makeOwnedName());
  mkdirSync(folder, { mode: 0o700 });
  let made = 0;
  return {
    folder,
    makeFolder() {
      const path = join(folder, String(++made));
      mkdirSync(path, { mode: 0o700 });
      return path;
    },
    close: () => tryToRemove(folder),
  };
}
