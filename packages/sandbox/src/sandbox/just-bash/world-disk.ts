/**
 * The world's folders for the interpreted shell, through the one path gate: each entry is reached through its opened
 * and checked folder, and its own name is never followed. Links are resolved above this file.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ContainedFault, type ContainedFile, type OpenOutcome, withContained } from "@metier/base/files";
import { isInside } from "@metier/base/places";
import { accessTo, isInWorld, isSecretName, type World, worldRules } from "../world/world.ts";
import { type FolderEntry, listFolder, openFolder, openForReading, pathOfOpen } from "../world/world-path.ts";

/** Every path is absolute and free of links, except possibly its last name. */
export interface WorldDisk {
  lookAt(path: string): Stats;
  readLink(path: string): string;
  read(path: string): Uint8Array;
  /** The first characters of a file; empty if it cannot be read. */
  readStart(path: string): string;
  list(path: string): readonly FolderEntry[];
  write(path: string, content: Uint8Array, how: "replace" | "append"): void;
  makeFolder(path: string): void;
  remove(path: string): void;
  move(from: string, to: string): void;
  link(from: string, to: string): void;
  setMode(path: string, mode: number): void;
  setTimes(path: string, accessed: Date, changed: Date): void;
}

/** The shell keeps what it reads in memory. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
const START_BYTES = 128;
/** Minus the umask, as for any program. */
const NEW_FILE_MODE = 0o666;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const WRITE_FLAGS = READ_FLAGS | constants.O_WRONLY | constants.O_CREAT;

export function createWorldDisk(world: World, maxFileBytes: number = Number.POSITIVE_INFINITY): WorldDisk {
  const at = reachEntries(world);
  return { ...createReads(world, at), ...createChanges(world, at, maxFileBytes) };
}

/** Passes the path that reaches the entry while its folder is open. */
type Reach = <Value>(path: string, need: "read" | "write", use: (anchored: string) => Value) => Value;

function reachEntries(world: World): Reach {
  return (path, need, use) => {
    if (world.readable.includes(path)) return use(checkRoot(path, need));
    return useOpened(openFolder(world, dirname(path)), path, ({ descriptor, realPath }) => {
      const real = join(realPath, basename(path));
      if (!isInWorld(world, real)) throw fileFault("ENOENT", path);
      if (need === "write" && accessTo(world, real) !== "write") throw fileFault("EROFS", path);
      try {
        return use(join(pathOfOpen(descriptor, realPath), basename(path)));
      } catch (error) {
        throw hidePlace(error, path);
      }
    });
  };
}

/** A failed open throws, as the shell's commands expect. */
function useOpened<Value>(opened: OpenOutcome, path: string, use: (file: ContainedFile) => Value): Value {
  if (!opened.ok) throw closedFault(opened, path);
  return withContained(opened, use) as Value;
}

function closedFault({ reason }: ContainedFault, path: string): Error {
  return fileFault(reason === "denied" ? "EACCES" : "ENOENT", path);
}

type Reads = Pick<WorldDisk, "lookAt" | "readLink" | "read" | "readStart" | "list">;

function createReads(world: World, at: Reach): Reads {
  const lookAt = (path: string): Stats => at(path, "read", (anchored) => lstatSync(anchored));
  return {
    lookAt,
    readLink: (path) => at(path, "read", (anchored) => readlinkSync(anchored)),
    read(path) {
      if (lookAt(path).isDirectory()) throw fileFault("EISDIR", path);
      return useOpened(openForReading(world, path), path, ({ descriptor, stats }) => {
        if (stats.size > MAX_READ_BYTES) throw fileFault("EFBIG", path);
        return readFileSync(descriptor);
      });
    },
    readStart(path) {
      const text = withContained(openForReading(world, path), ({ descriptor }) => {
        const start = Buffer.alloc(START_BYTES);
        return start.toString("latin1", 0, readSync(descriptor, start));
      });
      return typeof text === "string" ? text : "";
    },
    list(path) {
      if (!lookAt(path).isDirectory()) throw fileFault("ENOTDIR", path);
      const listing = listFolder(world, path);
      if (listing.ok) return listing.entries;
      throw closedFault(listing, path);
    },
  };
}

function createChanges(world: World, at: Reach, maxFileBytes: number): Omit<WorldDisk, keyof Reads> {
  return {
    write: (path, content, how) =>
      at(path, "write", (anchored) => {
        const flags = how === "append" ? WRITE_FLAGS | constants.O_APPEND : WRITE_FLAGS;
        withOpen(anchored, flags, (descriptor) => {
          const found = fstatSync(descriptor);
          if (!found.isFile()) throw fileFault("EINVAL", path);
          const kept = how === "append" ? found.size : 0;
          if (kept + content.length > maxFileBytes) throw fileFault("EFBIG", path);
          if (how === "replace") ftruncateSync(descriptor, 0);
          writeFileSync(descriptor, content);
        });
      }),
    makeFolder: (path) => at(path, "write", (anchored) => mkdirSync(anchored)),
    remove: (path) =>
      at(path, "write", (anchored) => {
        if (!lstatSync(anchored).isDirectory()) return unlinkSync(anchored);
        checkMovable(world, path);
        rmdirSync(anchored);
      }),
    move(from, to) {
      checkMovable(world, from);
      at(from, "write", (source) => at(to, "write", (target) => renameSync(source, target)));
    },
    /** Someone who may not write to a file must not get another name for it in a writable folder. */
    link: (from, to) => at(from, "write", (source) => at(to, "write", (target) => linkSync(source, target))),
    setMode: (path, mode) =>
      at(path, "write", (anchored) =>
        withOpen(anchored, READ_FLAGS, (descriptor) =>
          chmodSync(pathOfOpen(descriptor, anchored), mode & 0o777),
        ),
      ),
    setTimes: (path, accessed, changed) =>
      at(path, "write", (anchored) => lutimesSync(anchored, accessed, changed)),
  };
}

function withOpen(anchored: string, flags: number, use: (descriptor: number) => void): void {
  const descriptor = openSync(anchored, flags, NEW_FILE_MODE);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A folder of the world itself can be inspected but not replaced. */
function checkRoot(path: string, need: "read" | "write"): string {
  if (need === "write") throw fileFault("EBUSY", path);
  if (realpathSync.native(path) !== path) throw fileFault("ENOENT", path);
  return path;
}

/**
 * Paths decide what is hidden or read-only in a folder, so its parent folders must stay where they are. Hidden names
 * are hidden everywhere.
 */
function checkMovable(world: World, folder: string): void {
  for (const path of worldRules(world).keys()) {
    if (isInside(path, folder) && !isSecretName(basename(path))) throw fileFault("EBUSY", folder);
  }
}

/* Errors are worded as the shell's commands expect, and name the path that the shell used. */

const TEXTS = {
  EACCES: "permission denied",
  EBUSY: "resource busy or locked",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many levels of symbolic links",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  EXDEV: "cross-device link not permitted",
} as const;

type FileFaultCode = keyof typeof TEXTS;

export function fileFault(code: FileFaultCode, path: string): Error {
  return Object.assign(new Error(`${code}: ${TEXTS[code]}, '${path}'`), { code });
}

/** The same error without the machine's path. */
function hidePlace(error: unknown, path: string): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  return fileFault(code in TEXTS ? (code as FileFaultCode) : "EACCES", path);
}

/** Errors of the system in memory have their code only in the text. */
export function isMissing(error: unknown): boolean {
  return (error as Error).message.startsWith("ENOENT:");
}
