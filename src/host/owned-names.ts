/**
 * Names for files and folders that one process uses for a while. A name says whose it is, so that what a killed process
 * left is removed by the next one, and what a living one uses is not.
 */
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isAlive } from "./process-alive.ts";
import { removeFolder } from "./remove-folder.ts";

/** Nothing takes so long; a number may have passed to another process meanwhile. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;
const OWNER = /^(?<pid>\d+)-(?<host>[0-9a-f]{8})-[0-9a-f]{16}$/;

/** What stands around the part that names the owner. */
export interface NameFrame {
  readonly prefix?: string;
  readonly suffix?: string;
}

export function makeOwnedName({ prefix = "", suffix = "" }: NameFrame = {}): string {
  return `${prefix}${process.pid}-${hostMark()}-${randomBytes(8).toString("hex")}${suffix}`;
}

/** What the system does not let go is left to a later attempt. */
export function removeAbandoned(folder: string, { prefix = "", suffix = "" }: NameFrame = {}): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
    const owner = OWNER.exec(name.slice(prefix.length, name.length - suffix.length))?.groups;
    const path = join(folder, name);
    if (owner && isAbandoned(owner, path)) tryToRemove(path);
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
function isAbandoned({ pid, host }: Readonly<Record<string, string>>, path: string): boolean {
  if (host === hostMark() && !isAlive(Number(pid))) return true;
  const madeAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - madeAt > ABANDONED_AFTER_MS;
}

let mark: string | undefined;

function hostMark(): string {
  mark ??= createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
  return mark;
}
