/**
 * Where a source is fetched and looked at before anything is installed: a folder of its own for each installation, that
 * is never searched for skills and in which nothing is executed. Its name says whose it is, so that what a killed
 * process left is removed by the next one, and what a living one uses is not.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Places } from "../host/places.ts";
import { isAlive } from "../host/process-alive.ts";
import { removeFolder } from "../host/remove-folder.ts";

export interface Quarantine {
  /** By its real path; on the same file system as the store, so that a rename takes a skill there. */
  readonly folder: string;
  /** A new, empty folder in it. */
  makeFolder(): string;
  /** Removes everything in it; what the system does not let go is left to a later installation. */
  close(): void;
}

type QuarantinePlaces = Pick<Places, "quarantine">;

/** No installation takes so long; a number may have passed to another process meanwhile. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;
const OWNER = /^(?<pid>\d+)-(?<host>[0-9a-f]{8})-[0-9a-f]{16}$/;

export function openQuarantine(places: QuarantinePlaces): Quarantine {
  const all = places.quarantine;
  mkdirSync(all, { recursive: true, mode: 0o700 });
  removeAbandoned(all);
  const name = `${process.pid}-${hostMark()}-${randomBytes(8).toString("hex")}`;
  const folder = join(realpathSync.native(all), name);
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

function removeAbandoned(all: string): void {
  for (const name of readdirSync(all)) {
    const path = join(all, name);
    if (isAbandoned(name, path)) tryToRemove(path);
  }
}

/** A process of another machine that shares this home cannot be asked, so only time tells. */
function isAbandoned(name: string, path: string): boolean {
  const { pid, host } = OWNER.exec(name)?.groups ?? {};
  if (host === hostMark() && !isAlive(Number(pid))) return true;
  const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - madeAt > ABANDONED_AFTER_MS;
}

function tryToRemove(folder: string): void {
  try {
    removeFolder(folder);
  } catch {
    // Held by someone, or not ours: the next installation tries again.
  }
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
