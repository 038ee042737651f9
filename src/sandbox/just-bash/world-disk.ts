/**
 * The folders of the world for the interpreted shell, through the one path gate: each entry is reached through its
 * folder, opened and checked, and its own name is never followed. Links are resolved above this file.
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
import { withContained } from "../../host/open-contained.ts";
import { isInside } from "../../host/places.ts";
import { isSecretName } from "../secret-names.ts";
import type { World } from "../world.ts";
import { accessTo, isVisible, worldRules } from "../world-access.ts";
import { type FolderEntry, listFolder, openFolder, openForReading, pathOfOpen } from "../world-path.ts";
import { fileFault, hidePlace } from "./file-fault.ts";

/** Every path is absolute and free of links, except for what its last name may be. */
export interface WorldDisk {
  lookAt(path: string): Stats;
  readLink(path: string): string;
  read(path: string): Uint8Array;
  /** The first characters of a file; none where it cannot be read. */
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

/** The shell holds what it reads in memory. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
const START_BYTES = 128;
/** Less the umask, as any program makes files. */
const NEW_FILE_MODE = 0o666;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const WRITE_FLAGS = READ_FLAGS | constants.O_WRONLY | constants.O_CREAT;

export function createWorldDisk(world: World, maxFileBytes: number = Number.POSITIVE_INFINITY): WorldDisk {
  /** Hands on the path by which the entry is reached as long as its folder is open. */
  const at = <Value>(path: string, need: "read" | "write", use: (anchored: string) => Value): Value => {
    if (world.readable.includes(path)) return use(checkRoot(path, need));
    const result = withContained(openFolder(world, dirname(path)), ({ descriptor, realPath }) => {
      const real = join(realPath, basename(path));
      if (!isVisible(world, real)) throw fileFault("ENOENT", path);
      if (need === "write" && accessTo(world, real) !== "write") throw fileFault("EROFS", path);
      try {
        return { value: use(join(pathOfOpen(descriptor, realPath), basename(path))) };
      } catch (error) {
        throw hidePlace(error, path);
      }
    });
    if ("value" in result) return result.value;
    throw fileFault(result.reason === "denied" ? "EACCES" : "ENOENT", path);
  };

  const lookAt = (path: string): Stats => at(path, "read", (anchored) => lstatSync(anchored));

  return {
    lookAt,
    readLink: (path) => at(path, "read", (anchored) => readlinkSync(anchored)),
    read(path) {
      if (lookAt(path).isDirectory()) throw fileFault("EISDIR", path);
      const result = withContained(openForReading(world, path), ({ descriptor, stats }) => {
        if (stats.size > MAX_READ_BYTES) throw fileFault("EFBIG", path);
        return { bytes: readFileSync(descriptor) };
      });
      if ("bytes" in result) return result.bytes;
      throw fileFault(result.reason === "denied" ? "EACCES" : "ENOENT", path);
    },
    readStart(path) {
      const result = withContained(openForReading(world, path), ({ descriptor }) => {
        const start = Buffer.alloc(START_BYTES);
        return { text: start.toString("latin1", 0, readSync(descriptor, start)) };
      });
      return "text" in result ? result.text : "";
    },
    list(path) {
      if (!lookAt(path).isDirectory()) throw fileFault("ENOTDIR", path);
      const listing = listFolder(world, path);
      if (listing.ok) return listing.entries;
      throw fileFault(listing.reason === "denied" ? "EACCES" : "ENOENT", path);
    },
    write: (path, content, how) =>
      at(path, "write", (anchored) => {
        const flags = how === "append" ? WRITE_FLAGS | constants.O_APPEND : WRITE_FLAGS;
        withOpen(anchored, flags, (descriptor) => {
          const { size } = checkFile(fstatSync(descriptor), path);
          const kept = how === "append" ? size : 0;
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
    /** Who may not write to a file must not get another name for it in a folder where it could be written to. */
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

function checkFile(found: Stats, path: string): Stats {
  if (!found.isFile()) throw fileFault("EINVAL", path);
  return found;
}

/** A folder of the world itself can be looked at where it is, but not replaced. */
function checkRoot(path: string, need: "read" | "write"): string {
  if (need === "write") throw fileFault("EBUSY", path);
  if (realpathSync.native(path) !== path) throw fileFault("ENOENT", path);
  return path;
}

/**
 * What is hidden or read-only in a folder is so by its path, so the folders around it stay where they are. Hidden names
 * are hidden wherever they are.
 */
function checkMovable(world: World, folder: string): void {
  for (const path of worldRules(world).keys()) {
    if (isInside(path, folder) && !isSecretName(basename(path))) throw fileFault("EBUSY", folder);
  }
}
