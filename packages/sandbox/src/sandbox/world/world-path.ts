/**
 * The path gate of the file tools: they see exactly what the run's commands see; everything else does not exist.
 * Everything read, listed or replaced is reached through a checked open descriptor, so a command that swaps folders for
 * links at the same time gains nothing. Failures are values.
 */
import { type Dirent, existsSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import {
  type ContainedFault,
  type OpenOutcome,
  openAllowed,
  replaceFile,
  showPath,
  withContained,
} from "@metier/base/files";
import { isInside } from "@metier/base/places";
import { accessTo, isInWorld, type World } from "./world.ts";

export interface FolderEntry {
  readonly name: string;
  /** `special`: a pipe, device or socket. */
  readonly kind: "file" | "folder" | "link" | "special";
}

type FolderListing =
  /** Sorted by name; leaves out what the run does not see. */
  { readonly ok: true; readonly realPath: string; readonly entries: readonly FolderEntry[] } | ContainedFault;

interface WrittenFile {
  readonly ok: true;
  readonly realPath: string;
}

interface CreatedFile extends WrittenFile {
  readonly descriptor: number;
}

const MAX_PATH_BYTES = 4096;
/** Minus the umask, as for any program. */
const NEW_FILE_MODE = 0o666;
const HAS_DESCRIPTOR_PATHS = existsSync("/proc/self/fd");

/** Opens a regular file for reading. A relative path starts at the world's `cwd`. */
export function openForReading(world: World, path: string): OpenOutcome {
  return open(world, path, "file");
}

/** Opens a folder for operations through its descriptor. */
export function openFolder(world: World, path: string): OpenOutcome {
  return open(world, path, "folder");
}

export function listFolder(world: World, path: string): FolderListing {
  return withContained(open(world, path, "folder"), ({ descriptor, realPath }): FolderListing => {
    try {
      const entries = readdirSync(pathOfOpen(descriptor, realPath), { withFileTypes: true })
        .filter((entry) => isInWorld(world, join(realPath, entry.name)))
        .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      return { ok: true, realPath, entries };
    } catch (error) {
      return denied(path, `cannot be listed (${codeOf(error)})`);
    }
  });
}

/** Replaces or creates a file atomically, with its parent folders. Keeps an existing file's mode. */
export function writeFileInWorld(world: World, path: string, content: string): WrittenFile | ContainedFault {
  return placeFile<WrittenFile>(world, path, (anchored, realPath) => {
    const impossible = whyNotReplaceable(anchored, path);
    if (impossible) return impossible;
    replaceFile(anchored, content, { mode: NEW_FILE_MODE });
    return { ok: true, realPath };
  });
}

/** Of an existing entry with that name. */
function whyNotReplaceable(anchored: string, path: string): ContainedFault | undefined {
  const existing = lstatSync(anchored, { throwIfNoEntry: false });
  if (existing?.isSymbolicLink()) return denied(path, "is a link; write to its target instead");
  if (existing && !existing.isFile()) return fault("not-a-file", `${showPath(path)} is not a regular file.`);
  return undefined;
}

/** Why nothing can be written at the path; `undefined` if it can. Only checks, and creates nothing. */
export function whyNotWritable(world: World, path: string): ContainedFault | undefined {
  const location = locate(world, path);
  if (typeof location !== "string") return location;
  if (world.readable.includes(location)) return notWritable(world, path);
  for (let folder = dirname(location); ; folder = dirname(folder)) {
    const opened = open(world, folder, "folder");
    if (opened.ok) {
      return withContained(opened, ({ descriptor, realPath }) => {
        const target = join(realPath, relative(folder, location));
        if (accessTo(world, target) !== "write") return notWritable(world, path);
        if (folder !== dirname(location)) return undefined; // Its folder is created first.
        return whyNotReplaceable(join(pathOfOpen(descriptor, realPath), basename(location)), path);
      });
    }
    // Missing folders are created, as long as one above them exists.
    if (opened.reason !== "missing" || world.readable.includes(folder)) return opened;
  }
}

/** A new file open for writing, in place of whatever has that name. The caller closes it. */
export function createFileInWorld(world: World, path: string): CreatedFile | ContainedFault {
  return placeFile<CreatedFile>(world, path, (anchored, realPath) => {
    rmSync(anchored, { force: true });
    return { ok: true, realPath, descriptor: openSync(anchored, "wx", NEW_FILE_MODE) };
  });
}

/** Does something at a path that the run may write to, through its open parent folder. */
function placeFile<Placed>(
  world: World,
  path: string,
  place: (anchored: string, realPath: string) => Placed | ContainedFault,
): Placed | ContainedFault {
  const location = locate(world, path);
  if (typeof location !== "string") return location;
  if (world.readable.includes(location)) return notWritable(world, path);
  const folder = openOrMakeFolder(world, dirname(location), path);
  return withContained(folder, ({ descriptor, realPath }): Placed | ContainedFault => {
    const target = join(realPath, basename(location));
    if (accessTo(world, target) !== "write") return notWritable(world, path);
    try {
      return place(join(pathOfOpen(descriptor, realPath), basename(location)), target);
    } catch (error) {
      return denied(path, `cannot be written (${codeOf(error)})`);
    }
  });
}

/** Opens the folder for writing `path`; missing folders are created one by one, each checked. */
function openOrMakeFolder(world: World, folder: string, path: string): OpenOutcome {
  const opened = open(world, folder, "folder");
  if (opened.ok || opened.reason !== "missing") return opened;
  return withContained(
    openOrMakeFolder(world, dirname(folder), path),
    ({ descriptor, realPath }): OpenOutcome => {
      const made = join(realPath, basename(folder));
      if (accessTo(world, made) !== "write") return notWritable(world, path);
      try {
        mkdirSync(join(pathOfOpen(descriptor, realPath), basename(folder)));
      } catch (error) {
        // Someone else was faster, or it is a broken link: the next open tells.
        if (codeOf(error) !== "EEXIST") return denied(path, `cannot be written (${codeOf(error)})`);
      }
      return open(world, made, "folder");
    },
  );
}

function open(world: World, path: string, kind: "file" | "folder"): OpenOutcome {
  const location = locate(world, path);
  if (typeof location !== "string") return location;
  if (!isInWorld(world, location)) return missing(path);
  const isAllowed = (real: string): boolean => isInWorld(world, real);
  const opened = openAllowed({ location, path, kind, isAllowed, refuse: missing });
  // How a link to the outside fails must not reveal what is there.
  return !opened.ok && hasLink(world, location) ? missing(path) : opened;
}

/** The path as text, absolute and inside something the run sees; decided without the disk. */
function locate(world: World, path: unknown): string | ContainedFault {
  if (typeof path !== "string" || path === "") return fault("invalid", "the path is empty or not a string.");
  if (path.includes("\0") || !path.isWellFormed())
    return fault("invalid", `${showPath(path)} is not a path.`);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return fault("invalid", `${showPath(path)} is longer than ${MAX_PATH_BYTES} bytes.`);
  }
  const location = resolve(world.cwd, path);
  if (world.readable.some((root) => isInside(location, root))) return location;
  return fault(
    "outside",
    `${showPath(path)} is outside the folders this run can see: ${list(world.readable)}.`,
  );
}

/** Whether there is a link between the world's folders and `location`. */
function hasLink(world: World, location: string): boolean {
  for (let path = location; !world.readable.includes(path); path = dirname(path)) {
    if (isLink(path)) return true;
  }
  return false;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // It cannot be inspected, so the cause is further up.
  }
}

/** A path that always means the open folder, whatever happens to its name. */
export function pathOfOpen(descriptor: number, realPath: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : realPath;
}

function kindOf(entry: Dirent): FolderEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "special";
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown fault";
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? "nothing" : paths.map((path) => `\`${path}\``).join(", ");
}

function fault(reason: ContainedFault["reason"], message: string): ContainedFault {
  return { ok: false, reason, message };
}

function missing(path: string): ContainedFault {
  return fault("missing", `${showPath(path)} does not exist.`);
}

function notWritable(world: World, path: string): ContainedFault {
  return denied(path, `is not writable for this run; write inside ${list(world.writable)} instead`);
}

function denied(path: string, what: string): ContainedFault {
  return fault("denied", `${showPath(path)} ${what}.`);
}
