/**
 * Lists a folder that someone else fills: names in bytes, links as links, within limits. Folders and files are opened
 * first, and used only if the system confirms that they are where they were looked for: a link that replaces a folder
 * in the meantime leads nowhere.
 */
import { type BigIntStats, closeSync, constants, lstatSync, openSync, readlinkSync } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import { namedEntries, showPath } from "@metier/base/files";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import type { KeptFolder, KeptLink } from "./manifest.ts";

export interface FoundFile {
  /** As Latin-1, relative to the folder. */
  readonly path: string;
  readonly stats: BigIntStats;
}

interface FoundFolder {
  readonly files: readonly FoundFile[];
  readonly folders: readonly KeptFolder[];
  readonly links: readonly KeptLink[];
}

export interface FolderBounds {
  /** Files, folders and links together. */
  readonly maxEntries: number;
  /** All files together. */
  readonly maxBytes: number;
}

/** macOS: opening fails if any part of the path is a link. */
const NO_FOLLOW_ANY = process.platform === "darwin" ? 0x2000_0000 : 0;
const OPEN_FLAGS =
  constants.O_RDONLY | NO_FOLLOW_ANY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const HAS_PROC = process.platform === "linux";
const PERMISSIONS = 0o777n;

/** `root`: a real path. Skips pipes, sockets and devices, which have no content to keep. */
export async function walkFolder(root: string, bounds: FolderBounds): Promise<Result<FoundFolder>> {
  const found = { files: [] as FoundFile[], folders: [] as KeptFolder[], links: [] as KeptLink[] };
  const pending = [""];
  let [entries, bytes] = [0, 0];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const listed = listFolder(root, folder);
    if (!listed.ok) return listed;
    entries += listed.value.length;
    if (entries > bounds.maxEntries) return tooMuch(root, `more than ${bounds.maxEntries} files and folders`);
    for (const { path, stats, target } of listed.value) {
      if (target !== undefined) found.links.push({ kind: "link", path, target });
      else if (stats.isDirectory()) {
        pending.push(path);
        found.folders.push({ kind: "folder", path, mode: Number(stats.mode & PERMISSIONS) });
      } else if (stats.isFile()) {
        found.files.push({ path, stats });
        bytes += Number(stats.size);
      }
    }
    if (bytes > bounds.maxBytes) return tooMuch(root, `files of more than ${bounds.maxBytes} bytes`);
    await breathe();
  }
  return done(found);
}

interface Listed {
  readonly path: string;
  readonly stats: BigIntStats;
  /** Only for links. */
  readonly target?: string;
}

function listFolder(root: string, folder: string): Result<readonly Listed[]> {
  const opened = openPlain(root, folder, constants.O_DIRECTORY);
  if (!opened.ok) return opened;
  try {
    // Through the open folder, if the system has such paths: its name may lead elsewhere by now.
    const place = HAS_PROC ? Buffer.from(`/proc/self/fd/${opened.value}`) : pathBytes(root, folder);
    return done(
      namedEntries(place.toString()).map(({ name }) => {
        const at = Buffer.concat([place, Buffer.from("/"), name]);
        const path = folder === "" ? name.toString("latin1") : `${folder}/${name.toString("latin1")}`;
        const stats = lstatSync(at, { bigint: true });
        if (!stats.isSymbolicLink()) return { path, stats };
        return { path, stats, target: readlinkSync(at, "buffer").toString("latin1") };
      }),
    );
  } catch (error) {
    return unreadable(folder, error);
  } finally {
    closeSync(opened.value);
  }
}

/** Opens the path itself and follows no link. The caller closes the descriptor. */
export function openPlain(root: string, path: string, flags = 0): Result<number> {
  const place = pathBytes(root, path);
  let descriptor: number;
  try {
    descriptor = openSync(place, OPEN_FLAGS | flags);
  } catch (error) {
    return unreadable(path, error);
  }
  if (!HAS_PROC || readlinkSync(`/proc/self/fd/${descriptor}`, "buffer").equals(place))
    return done(descriptor);
  closeSync(descriptor);
  return refused({
    message: `The work folder cannot be kept: ${describePath(path)} was replaced by a link while it was read.`,
  });
}

export function pathBytes(root: string, path: string): Buffer {
  return path === ""
    ? Buffer.from(root)
    : Buffer.concat([Buffer.from(root), Buffer.from("/"), Buffer.from(path, "latin1")]);
}

export function unreadable(path: string, error: unknown): Refused {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return refused({
    message: `The work folder cannot be kept: ${describePath(path)} cannot be read (${code}).`,
    hint: "Make the run remove it, or make it readable for its owner.",
  });
}

function tooMuch(root: string, what: string): Refused {
  return refused({
    message: `The work folder cannot be kept: \`${root}\` has ${what}.`,
    hint: "Make the run remove what it does not need, such as caches and installed packages.",
  });
}

/** For messages. */
export function describePath(path: string): string {
  return path === "" ? "the folder itself" : showPath(Buffer.from(path, "latin1").toString());
}
