/**
 * Names for folders that one process uses for a while. A name says whose it is, so that what a killed process left is
 * removed by the next one, and what a living one uses is not.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "../host/process-alive.ts";
import { removeFolder } from "../host/remove-folder.ts";

/** Nothing takes so long; a number may have passed to another process meanwhile. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;
const OWNER = /^(?<prefix>.*?)(?<pid>\d+)-(?<host>[0-9a-f]{8})-[0-9a-f]{16}$/;

export function makeOwnedName(prefix: string = ""): string {
  return `${prefix}${process.pid}-${hostMark()}-${randomBytes(8).toString("hex")}`;
}

/** What the system does not let go is left to a later attempt. */
export function removeAbandoned(folder: string, prefix: string = ""): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (isAbandoned(name, path, prefix)) tryToRemove(path);
  }
}

export function tryToRemove(folder: string): void {
  try {
    removeFolder(folder);
  } catch {
    // Held by someone, or not ours: the next one tries again.
  }
}

/** A process of another machine that shares this folder cannot be asked, so only time tells. */
function isAbandoned(name: string, path: string, prefix: string): boolean {
  const owner = OWNER.exec(name)?.groups;
  if (owner?.prefix !== prefix) return false;
  if (owner.host === hostMark() && !isAlive(Number(owner.pid))) return true;
  const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - madeAt > ABANDONED_AFTER_MS;
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
