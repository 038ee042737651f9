/**
 * Local folders as sources, used in place or copied while others may write to them: byte for byte, links as links, and
 * only if they did not change during the copy. Repositories and packages in them (`.git`, `node_modules`) are left out
 * unless they are part of a skill. Also local files, complete and bounded.
 */
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Diagnostic } from "@metier/base/diagnostic";
import { namedEntries, showPath } from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { done, type Refused, type Result } from "@metier/base/result";
import { isSkillFileName } from "@metier/skills";
import { stampOf } from "@metier/skills/trust";
import type { FolderAddress } from "../addresses/source-address.ts";
import type { FetchContext, SourceFetch } from "../fetch-source.ts";
import {
  describeRefusal,
  faulty,
  type InstallFault,
  limited,
  RefusedTree,
  stopIfCancelled,
  unsafe,
} from "../install-fault.ts";
import { MAX_ENTRIES_PER_FILE, type SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";

export async function fetchFolder(address: FolderAddress, context: FetchContext): Promise<SourceFetch> {
  const { path, canonical } = address;
  let real: string;
  try {
    real = realpathSync.native(path);
    if (!statSync(real).isDirectory()) return notAFolder(path);
  } catch (fault) {
    return describeLocalFault(fault, path);
  }
  const wrong = whyNotFrom(path, real, context);
  if (wrong !== undefined) return wrong;
  const diagnostics: Diagnostic[] = real === path ? [] : [reportLink(path, real)];
  if (context.link) return done({ folder: real, resolved: real, canonical, linked: true, diagnostics });
  const { into, limits, signal, onProgress } = context;
  const what = `Copying ${path}`;
  try {
    const onFile = (done: number, total: number): void => onProgress?.({ what, done, total });
    diagnostics.push(...(await copyFolder(real, into, { limits, signal, onFile })));
  } catch (fault) {
    const isSystemFault = fault instanceof Error && "syscall" in fault;
    return isSystemFault ? describeLocalFault(fault, path) : describeRefusal(fault, showPath(path));
  }
  return done({ folder: into, resolved: real, canonical, diagnostics });
}

function notAFolder(path: string): Refused<InstallFault> {
  return faulty(
    "source.invalid",
    `${showPath(path)} is not a folder, an archive or an \`.md\` file.`,
    "Name a folder, a `.tar.gz`, `.tgz`, `.tar` or `.zip` file, or a `SKILL.md`.",
  );
}

function whyNotFrom(
  path: string,
  real: string,
  { into, store }: FetchContext,
): Refused<InstallFault> | undefined {
  const own = [into, ...(store === undefined ? [] : [store])].map(realPathOr);
  if (own.some((folder) => isInside(real, folder))) {
    const hint = "Install from the skill's original source; `metier list` shows what is installed.";
    return faulty("source.refused", `${showPath(path)} is inside Metier's own folder.`, hint);
  }
  if (own.some((folder) => isInside(folder, real))) {
    const hint = "Name a folder of skills, such as `./skills`.";
    return faulty("source.refused", `${showPath(path)} contains Metier's own folder.`, hint);
  }
  return undefined;
}

function reportLink(path: string, real: string): Diagnostic {
  const message = `${showPath(path)} is a link to ${showPath(real)}, which is installed.`;
  return { code: "source.link", severity: "info", path, message };
}

/** A FIFO without a writer must not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function readLocalFile(path: string, maxBytes: number): Result<Buffer, InstallFault> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, FLAGS);
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) {
      const hint = `Rename \`${path}/\` so that it has no file extension, or move the folder.`;
      return faulty("source.invalid", `${showPath(path)} is a folder with a file's name.`, hint);
    }
    if (!stats.isFile()) {
      return faulty("source.unsafe", `${showPath(path)} is not a regular file.`, "Name a file or a folder.");
    }
    if (stats.size > maxBytes) {
      const message = `${showPath(path)} has ${stats.size} bytes; the limit is ${maxBytes} bytes.`;
      return faulty("source.limited", message, "Unpack it and install one skill's folder.");
    }
    return done(readFileSync(descriptor));
  } catch (fault) {
    return describeLocalFault(fault, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a local path cannot be a source. */
function describeLocalFault(fault: unknown, path: string): Refused<InstallFault> {
  const { code = "unknown fault", message } = fault as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return faulty("source.not_found", `${showPath(path)} does not exist.`, "Check the path.");
  }
  if (code === "EACCES" || code === "EPERM") {
    return faulty(
      "source.failed",
      `${showPath(path)} cannot be read: permission denied.`,
      "Check its permissions.",
    );
  }
  return faulty("source.failed", `${showPath(path)} cannot be read: ${message}.`, "Check the path.");
}

interface ListedEntry {
  /** Inside the folder, with `/`. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** Device, inode, mode, size and times. */
  readonly stamp: string;
}

interface CopyOptions {
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal | undefined;
  /** Called for every file. */
  onFile?(done: number, total: number): void;
  /** Whether to leave out a file or folder; may be called more than once. */
  leaveOut?(path: string, isFolder: boolean): boolean;
}

const BATCH = 64;
const CHUNK: number = 1024 * 1024;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `into` is empty. Returns notes about the tree, without errors. Throws `RefusedTree`. */
export async function copyFolder(
  folder: string,
  into: string,
  options: CopyOptions,
): Promise<readonly Diagnostic[]> {
  const { signal, onFile } = options;
  const entries = listEntries(folder, options);
  const writer = createTreeWriter(into, options.limits);
  for (const [index, entry] of entries.entries()) {
    if (index % BATCH === 0) await setImmediate(); // A terminal or a server may be waiting.
    stopIfCancelled(signal);
    onFile?.(index, entries.length);
    const place = join(folder, entry.path);
    if (entry.kind === "link") writer.addLink(entry.path, readlinkSync(place));
    else await copyFile(place, entry, writer);
  }
  const remarks = writer.finish();
  const before = JSON.stringify(entries);
  if (JSON.stringify(listEntries(folder, options)) !== before) throw changed();
  return remarks;
}

async function copyFile(
  place: string,
  { path, stamp }: ListedEntry,
  writer: ReturnType<typeof createTreeWriter>,
): Promise<void> {
  const descriptor = openSync(place, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (stampOf(stats) !== stamp) throw changed();
    const executable = (stats.mode & 0o111n) !== 0n;
    const mode = Number(stats.mode);
    const content = readChunks(descriptor);
    await writer.addFile(path, { executable, mode, size: Number(stats.size), content });
  } finally {
    closeSync(descriptor);
  }
}

function* readChunks(descriptor: number): Generator<Buffer, void> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    yield chunk.subarray(0, read);
  }
}

function listEntries(root: string, options: CopyOptions): readonly ListedEntry[] {
  const { limits } = options;
  const staysBehind = (path: string, name: string, isFolder: boolean, inSkill: boolean): boolean =>
    options.leaveOut?.(path, isFolder) || name === ".git" || (name === "node_modules" && !inSkill);
  const entries: ListedEntry[] = [];
  const pending = [{ below: "", inSkill: false }];
  let seen = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const listed = namedEntries(join(root, folder.below));
    seen += listed.length;
    if (seen > limits.files * MAX_ENTRIES_PER_FILE) {
      throw limited(`It has more than ${limits.files * MAX_ENTRIES_PER_FILE} entries.`);
    }
    const names = listed.map((entry) => readName(entry.name));
    const inSkill = folder.inSkill || names.some(isSkillFileName);
    for (const [index, entry] of listed.entries()) {
      const name = names[index] ?? "";
      const path = folder.below === "" ? name : `${folder.below}/${name}`;
      if (staysBehind(path, name, entry.isDirectory(), inSkill)) continue;
      if (entry.isDirectory()) pending.push({ below: path, inSkill });
      else entries.push(describeEntry(root, path));
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function describeEntry(root: string, path: string): ListedEntry {
  const stats = lstatSync(join(root, path), { bigint: true });
  const stamp = stampOf(stats);
  if (stats.isFile()) return { path, kind: "file", stamp };
  if (stats.isSymbolicLink()) return { path, kind: "link", stamp };
  throw unsafe(`\`${path}\` is a FIFO, a socket or a device.`);
}

function readName(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  throw unsafe(`The file name \`${name.toString("latin1")}\` is not UTF-8.`);
}

function changed(): RefusedTree {
  return new RefusedTree("source.failed", "It changed during the copy.");
}
