/**
 * Which locks there are on this machine: the user's, and those of projects for which something was put into the store.
 * What none of them records is garbage. One small file for each project, named after its path.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Places } from "../host/places.ts";
import { readBounded } from "../host/read-bounded.ts";
import { replaceFile } from "../host/write-atomic.ts";
import { type LockFile, projectLockFile, userLockFile } from "./lock-places.ts";

const MAX_PATH_BYTES = 8_192;

/** The user's lock is always known. */
export function rememberLock({ state }: Pick<Places, "state">, { path, owner }: LockFile): void {
  if (owner === "user") return;
  const folder = join(state, "locks");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, createHash("sha256").update(path).digest("hex"));
  if (!existsSync(file)) replaceFile(file, dirname(path), { flush: false });
}

/** Those whose files are there; a project that is gone is forgotten. */
export function knownLocks(places: Pick<Places, "state" | "lockFile">): readonly LockFile[] {
  const folder = join(places.state, "locks");
  const projects = listNames(folder).flatMap((name) => {
    const read = readBounded(join(folder, name), MAX_PATH_BYTES);
    if (!read.ok || !isAbsolute(read.text)) return [];
    const lock = projectLockFile(read.text);
    if (existsSync(lock.path)) return [lock];
    rmSync(join(folder, basename(name)), { force: true });
    return [];
  });
  return [userLockFile(places), ...projects];
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
  } catch {
    return []; // Nothing was installed for a project yet.
  }
}
