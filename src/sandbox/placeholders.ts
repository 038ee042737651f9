/**
 * Keeps protected paths that do not exist from being made during a command: an empty folder stands there meanwhile, and
 * the sandbox mounts something read-only on it. Each user leaves a mark inside, so that commands of several processes
 * can share one, and the last of them removes it; marks of dead processes do not count.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface HeldPlaces {
  /** The places that are held: nothing of the user's lies there. */
  readonly paths: readonly string[];
  release(): void;
}

const MARK = /^\.metier-hold-(\d+)-/;
/** Another process removes what we are about to use, once or twice; not for ever. */
const ATTEMPTS = 20;

/** Holds those of `paths` where nothing of the user's lies. */
export function holdPlaces(paths: readonly string[]): HeldPlaces {
  const mark = `.metier-hold-${process.pid}-${randomUUID()}`;
  const held: string[] = [];
  const release = (): void => {
    for (const path of held) leave(path, mark);
  };
  try {
    for (const path of paths) if (hold(path, mark)) held.push(path);
  } catch (error) {
    release();
    throw error;
  }
  return { paths: held, release };
}

function hold(path: string, mark: string): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (!isFree(path)) return false;
    try {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, mark), "", { flag: "wx" });
      return true;
    } catch (error) {
      // Between two steps the last of the others removed it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error(`\`${path}\` is made and removed again and again by another process.`);
}

/** Whether nothing is there, or a place that only Metier holds. An empty folder may be the user's. */
function isFree(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return true;
  if (!found.isDirectory()) return false;
  const names = readdirSync(path);
  return names.length > 0 && names.every((name) => MARK.test(name));
}

function leave(path: string, mark: string): void {
  rmSync(join(path, mark), { force: true });
  try {
    for (const name of readdirSync(path)) if (isAbandoned(name)) rmSync(join(path, name), { force: true });
    rmdirSync(path);
  } catch {
    // Someone else holds it still, or put something there.
  }
}

function isAbandoned(name: string): boolean {
  const pid = Number(MARK.exec(name)?.[1]);
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
