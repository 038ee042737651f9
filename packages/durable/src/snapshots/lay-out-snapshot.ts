/**
 * Restores a folder from a snapshot. The folder is created again, plain folders and files first and links last, so that
 * nothing is written through a link.
 */
import { chmodSync, fchmodSync, futimesSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { removeFolder } from "@metier/base/files";
import { mapBounded } from "@metier/base/turns";
import type { KeptFile, Manifest } from "./manifest.ts";
import { damagedSnapshot } from "./seal-blob.ts";
import { pathBytes } from "./walk-folder.ts";

/** How many files are written at the same time. */
const MOST_AT_ONCE = 8;

/** `readPart` returns the verified content of a part. */
export async function layOutSnapshot(
  folder: string,
  { files, folders, links }: Manifest,
  readPart: (name: string) => Promise<Uint8Array>,
): Promise<void> {
  const present = lstatSync(folder, { throwIfNoEntry: false });
  if (present && !present.isDirectory()) throw damagedSnapshot(`\`${folder}\` is not a folder`);
  removeFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (present) chmodSync(folder, present.mode & 0o777);
  for (const { path } of folders) mkdirSync(pathBytes(folder, path), { mode: 0o700 });
  await mapBounded(files, MOST_AT_ONCE, (file) => restoreFile(folder, file, readPart));
  for (const { path, target } of links) {
    symlinkSync(Buffer.from(target, "latin1"), pathBytes(folder, path));
  }
  // Deepest first: a folder may be closed to its owner.
  for (const { path, mode } of folders.toReversed()) chmodSync(pathBytes(folder, path), mode);
}

async function restoreFile(
  folder: string,
  { path, mode, modifiedAt, size, parts }: KeptFile,
  readPart: (name: string) => Promise<Uint8Array>,
): Promise<void> {
  const file = await open(pathBytes(folder, path), "wx", 0o600);
  try {
    const written = await writeParts(file, parts, readPart);
    if (written !== size) throw damagedSnapshot("one of its files has another size");
    fchmodSync(file.fd, mode);
    futimesSync(file.fd, modifiedAt / 1000, modifiedAt / 1000);
  } finally {
    await file.close();
  }
}

async function writeParts(
  file: FileHandle,
  parts: readonly string[],
  readPart: (name: string) => Promise<Uint8Array>,
): Promise<number> {
  let written = 0;
  for (const name of parts) {
    const bytes = await readPart(name);
    await file.write(bytes);
    written += bytes.length;
  }
  return written;
}
