/**
 * Copies a folder that anyone may be writing to: byte for byte, links as links, and only if it stayed the same all the
 * while. Repositories and packages in it (`.git`, `node_modules`) stay behind unless they are part of a skill.
 */
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { isSkillFileName } from "../../sources/folder-listing.ts";
import { stampOf } from "../../trust/identify-file.ts";
import { RefusedTree, stopIfCancelled } from "../refused-tree.ts";
import { MAX_ENTRIES_PER_FILE, type SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";

interface ListedEntry {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** Device, inode, mode, size and times. */
  readonly stamp: string;
}

export interface CopyOptions {
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal | undefined;
  /** Called for every file. */
  onFile?(done: number, total: number): void;
  /** Whether a file or folder stays behind; asked more than once. */
  leaveOut?(path: string, isFolder: boolean): boolean;
}

const BATCH = 64;
const CHUNK: number = 1024 * 1024;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `into` is empty. Gives what is worth knowing of the tree, none of it an error. Throws `RefusedTree`. */
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
    const listed = readdirSync(join(root, folder.below), { withFileTypes: true, encoding: "buffer" });
    seen += listed.length;
    if (seen > limits.files * MAX_ENTRIES_PER_FILE) {
      throw new RefusedTree(
        "source.limited",
        `It has more than ${limits.files * MAX_ENTRIES_PER_FILE} entries.`,
      );
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
  throw new RefusedTree("source.unsafe", `\`${path}\` is a FIFO, a socket or a device.`);
}

function readName(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  throw new RefusedTree("source.unsafe", `The file name \`${name.toString("latin1")}\` is not UTF-8.`);
}

function changed(): RefusedTree {
  return new RefusedTree("source.failed", "It changed while it was copied.");
}
