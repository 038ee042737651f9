/**
 * The contents of a folder's files as stored parts. A file that hasn't changed since it was last read isn't read again.
 * Its stamp tells, unless it changed so shortly before it was read that a later change could have the same stamp.
 *
 * Files are split into parts of a fixed size. Most files are small and have one part. Of a large file, only one part at
 * a time is in memory, and a growing log is stored again only at its end.
 */
import { type BigIntStats, closeSync, fstatSync, read } from "node:fs";
import { promisify } from "node:util";
import { done, type Result, refused } from "@metier/base/result";
import { type KeepBlob, SnapshotsFull } from "./count-bytes.ts";
import type { KeptFile } from "./manifest.ts";
import type { TenantBlobs } from "./seal-blob.ts";
import { describePath, type FoundFile, openPlain, unreadable } from "./walk-folder.ts";

const PART_BYTES = 4 * 1024 * 1024;
/** Coarser than the clocks of file systems. */
const CLOCK_MS = 2_000;
const ATTEMPTS = 3;
const PERMISSIONS = 0o777n;
const readInto = promisify(read);

interface ReadFile {
  readonly stamp: string;
  /** Whether a file with that stamp must still have that content. */
  readonly isSettled: boolean;
  /** When its parts were last known to be stored. */
  readonly keptAt: number;
  readonly parts: readonly string[];
}

/** Of one folder, by path. */
export type ReadFiles = Map<string, ReadFile>;

interface FileReading {
  readonly root: string;
  readonly keep: KeepBlob;
  readonly sealing: TenantBlobs;
  readonly known: ReadFiles;
  /** Another process may have removed parts that were stored before this time. */
  readonly believedSince: number;
}

export async function readFile(reading: FileReading, file: FoundFile): Promise<Result<KeptFile>> {
  const { path, stats } = file;
  const before = reading.known.get(path);
  if (before?.isSettled && before.keptAt >= reading.believedSince && before.stamp === stampOf(stats))
    return done(entryOf(file.path, stats, before.parts));
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const opened = openPlain(reading.root, path);
    if (!opened.ok) return opened;
    try {
      const entry = await readOpened(reading, path, opened.value);
      if (entry) return done(entry);
    } catch (error) {
      if (error instanceof SnapshotsFull) throw error;
      return unreadable(path, error);
    } finally {
      closeSync(opened.value);
    }
  }
  return refused({
    message: `The work folder cannot be kept: ${describePath(path)} changed while it was read.`,
    hint: "Make the run stop what writes to it.",
  });
}

/** `undefined`: it changed in the meantime. */
async function readOpened(
  { keep, sealing, known }: FileReading,
  path: string,
  descriptor: number,
): Promise<KeptFile | undefined> {
  const startedAt = Date.now();
  const stats = fstatSync(descriptor, { bigint: true });
  if (!stats.isFile()) return undefined;
  const parts: string[] = [];
  for (let position = 0; position < Number(stats.size); position += PART_BYTES) {
    const part = await readPart(descriptor, position, Math.min(PART_BYTES, Number(stats.size) - position));
    if (part === undefined) return undefined;
    const name = sealing.nameOf("part", part);
    await keep(name, () => sealing.seal(name, part));
    parts.push(name);
  }
  const stamp = stampOf(stats);
  if (stampOf(fstatSync(descriptor, { bigint: true })) !== stamp) return undefined;
  const isSettled = Number(stats.ctimeNs / 1_000_000n) < startedAt - CLOCK_MS;
  known.set(path, { stamp, isSettled, keptAt: startedAt, parts });
  return entryOf(path, stats, parts);
}

/** `undefined`: it has become shorter. */
async function readPart(descriptor: number, position: number, size: number): Promise<Buffer | undefined> {
  const part = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await readInto(descriptor, part, length, size - length, position + length);
    if (bytesRead === 0) return undefined;
    length += bytesRead;
  }
  return part;
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs, mode].join(" ");
}

function entryOf(path: string, { mode, mtimeNs, size }: BigIntStats, parts: readonly string[]): KeptFile {
  return {
    kind: "file",
    path,
    mode: Number(mode & PERMISSIONS),
    // Rounded, because a restored time may be a few nanoseconds short.
    modifiedAt: Number((mtimeNs + 500_000n) / 1_000_000n),
    size: Number(size),
    parts,
  };
}
