/**
 * Resolves paths of the interpreted shell: to the disk, where the world shows it, or to the small system in memory
 * around it, of which only `/tmp` is writable. Links are followed here, so that they lead to the same targets as in the
 * sandbox and never out of it.
 */
import type { Stats } from "node:fs";
import { resolve } from "node:path";
import { isInside } from "@metier/base/places";
import type { FsStat, InMemoryFs } from "just-bash/browser";
import { accessTo, isInWorld, type World } from "../world/world.ts";
import { fileFault, isMissing, type WorldDisk } from "./world-disk.ts";

const TEMPORARY = "/tmp";
const WRITE_BITS = 0o222;
const EXECUTE_BITS = 0o111;

export interface ShellPlaces {
  isOnDisk(path: string): boolean;
  lookAt(path: string): Promise<FsStat>;
  /** A link's target; `undefined` if there is none. */
  linkAt(path: string): Promise<string | undefined>;
  /** Without links, or without those before the last name. */
  locate(path: string, last: "follow" | "keep"): Promise<string>;
  isTemporary(path: string): boolean;
  /** Refuses changes to the system in memory. */
  checkTemporary(path: string): void;
  checkFolder(path: string): Promise<void>;
}

export function createShellPlaces(world: World, disk: WorldDisk, memory: InMemoryFs): ShellPlaces {
  const isOnDisk = (path: string): boolean => isInWorld(world, path);

  const lookAt = async (path: string): Promise<FsStat> => {
    if (!isOnDisk(path)) return memory.lstat(path);
    const found = disk.lookAt(path);
    const canWrite = accessTo(world, path) === "write";
    const canExecute =
      !found.isFile() || (found.mode & EXECUTE_BITS) === 0 || isShellScript(disk.readStart(path));
    return describeStats(found, (canWrite ? 0 : WRITE_BITS) | (canExecute ? 0 : EXECUTE_BITS));
  };

  const linkAt = async (path: string): Promise<string | undefined> => {
    try {
      if (!(await lookAt(path)).isSymbolicLink) return undefined;
    } catch (error) {
      if (isMissing(error)) return undefined; // Whoever needs it to exist will report it.
      throw error;
    }
    return isOnDisk(path) ? disk.readLink(path) : memory.readlink(path);
  };

  const isTemporary = (path: string): boolean =>
    path !== TEMPORARY && isInside(path, TEMPORARY) && !world.readable.some((root) => isInside(path, root));

  return {
    isOnDisk,
    lookAt,
    linkAt,
    locate(path, last) {
      const wanted = resolve("/", path);
      return resolveLinks(wanted, { start: innermostRoot(world, wanted), keepLast: last === "keep", linkAt });
    },
    isTemporary,
    checkTemporary(path) {
      if (!isTemporary(path)) throw fileFault("EROFS", path);
      if (world.readable.some((root) => isInside(root, path))) throw fileFault("EBUSY", path);
    },
    async checkFolder(path) {
      if (!(await lookAt(path)).isDirectory) throw fileFault("ENOTDIR", path);
    },
  };
}

/** Up to this, a path has no links: a world's folders are real paths. */
function innermostRoot({ readable }: World, path: string): string {
  return readable.filter((root) => isInside(path, root)).sort((a, b) => b.length - a.length)[0] ?? "/";
}

/** The interpreter treats every executable file as a script in its own language. */
function isShellScript(start: string): boolean {
  return /^#! *(?:\S*\/env +(?:-S *)?)?\S*\b(?:ba|da|k|z)?sh\b/.test(start);
}

function describeStats(found: Stats, withoutMode: number): FsStat {
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymbolicLink: found.isSymbolicLink(),
    mode: found.mode & ~withoutMode,
    size: found.size,
    mtime: found.mtime,
    dev: found.dev,
    ino: found.ino,
  };
}

const MAX_LINKS = 40;

interface LinkSource {
  /** Where to start looking for links: a parent folder without any. */
  readonly start: string;
  /** Leaves the last name unresolved. */
  readonly keepLast: boolean;
  /** A link's target; `undefined` if there is none. */
  linkAt(path: string): Promise<string | undefined>;
}

async function resolveLinks(path: string, { start, keepLast, linkAt }: LinkSource): Promise<string> {
  let current = start;
  let left = namesOf(path.slice(start.length));
  let links = 0;
  while (left.length > 0) {
    const [name = "", ...rest] = left;
    const next = resolve(current, name);
    const target = keepLast && rest.length === 0 ? undefined : await linkAt(next);
    if (target === undefined) {
      current = next;
      left = rest;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw fileFault("ELOOP", path);
    if (target.startsWith("/")) current = "/";
    left = [...namesOf(target), ...rest];
  }
  return current;
}

function namesOf(path: string): readonly string[] {
  return path.split("/").filter(Boolean);
}
