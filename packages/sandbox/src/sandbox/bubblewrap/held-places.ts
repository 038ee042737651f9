/**
 * Prevents a command from creating protected paths that do not exist: during the command, a harmless placeholder is
 * there, mounted read-only. Each user of a placeholder folder leaves a mark, so that several processes can share it and
 * the last one removes it; marks of dead processes do not count.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isAlive } from "@metier/base/programs";
import { HARMLESS_FILES } from "../world/private-places.ts";

export interface HeldPlaces {
  /** The folders created here: they contain nothing of the user's, and a run must not see what appears there. */
  readonly folders: readonly string[];
  release(): void;
}

/** Holds those of `paths` that contain nothing of the user's. */
export function holdPlaces(paths: readonly string[]): HeldPlaces {
  const mark = `metier-hold-${process.pid}-${randomUUID()}`;
  const folders: string[] = [];
  const files: string[] = [];
  const release = (): void => {
    for (const path of folders) leaveFolder(path, mark);
    for (const path of files) leaveFile(path);
  };
  try {
    for (const path of paths) {
      const content = HARMLESS_FILES[basename(path)];
      if (content === undefined ? holdFolder(path, mark) : holdFile(path, content)) {
        (content === undefined ? folders : files).push(path);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
  return { folders, release };
}

const MARK = /metier-hold-(\d+)-/;
/** Another process may remove what we are about to use once or twice, but not forever. */
const ATTEMPTS = 20;

/** The marks are in the folder, so it can be removed only when empty; no lock is needed. */
function holdFolder(path: string, mark: string): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (!isFreeForFolder(path)) return false;
    try {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, mark), "", { flag: "wx" });
      return true;
    } catch (error) {
      // Between the two steps the last other user removed it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error(`Another process keeps creating and removing \`${path}\`.`);
}

/** Whether nothing is there, or a folder that only Metier holds. An empty one may be the user's. */
function isFreeForFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found === undefined;
  const names = readdirSync(path);
  return names.length > 0 && names.every((name) => MARK.test(name));
}

function leaveFolder(path: string, mark: string): void {
  rmSync(join(path, mark), { force: true });
  try {
    for (const name of readdirSync(path)) if (isAbandoned(name)) rmSync(join(path, name), { force: true });
    rmdirSync(path);
  } catch {
    // Someone else still holds it, or put something there.
  }
}

/** How many commands of this process use a file. */
const users = new Map<string, number>();

/** An existing placeholder file means nothing to anyone, so it counts as ours. */
function holdFile(path: string, content: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !(found.isFile() && readFileSync(path, "utf8") === content)) return false;
  if (!found) writeFileSync(path, content, { flag: "wx" });
  users.set(path, (users.get(path) ?? 0) + 1);
  return true;
}

/** Whatever is there now, it was not the user's when it was held. */
function leaveFile(path: string): void {
  const left = (users.get(path) ?? 1) - 1;
  if (left > 0) users.set(path, left);
  else {
    users.delete(path);
    rmSync(path, { force: true });
  }
}

function isAbandoned(name: string): boolean {
  const pid = Number(MARK.exec(name)?.[1]);
  return pid > 0 && !isAlive(pid);
}
