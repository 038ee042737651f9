/** An archive becomes a folder. Which format it has, its first bytes say; a file's name or a server's word do not count. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import { RefusedTree, stopIfCancelled } from "../refused-tree.ts";
import type { SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { createByteReader } from "./byte-reader.ts";
import { readTar } from "./read-tar.ts";
import { isGzip, unpackGzip } from "./unpack-gzip.ts";

/** Of a tar archive, for each entry and around all of them: headers, long names, filling. */
const HEADER_BYTES = 4096;
const FRAME_BYTES: number = 1024 * 1024;
/** What the Finder adds to its archives: icons and the like. */
const FINDER_FOLDER = "__MACOSX";

export interface UnpackOptions {
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal;
}

export interface UnpackedTree {
  /** `into`, or the only folder in it, as archives of repositories have it. */
  readonly folder: string;
  /** What is worth knowing of it, none of it an error. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Unpacks into `into`, an empty folder. Throws `RefusedTree`. */
export async function unpackArchive(
  bytes: Buffer,
  into: string,
  options: UnpackOptions,
): Promise<UnpackedTree> {
  const { limits, signal } = options;
  const writer = createTreeWriter(into, limits);
  for await (const entry of await readEntries(bytes, limits)) {
    stopIfCancelled(signal);
    if (entry.kind === "file") await writer.addFile(entry.path, entry);
    else if (entry.kind === "link") writer.addLink(entry.path, entry.target);
    else if (entry.path !== "" && entry.path !== ".") writer.addFolder(entry.path);
  }
  const diagnostics = writer.finish();
  return { folder: findTop(into), diagnostics };
}

async function readEntries(bytes: Buffer, limits: SourceLimits): Promise<AsyncIterable<ArchiveEntry>> {
  const start = bytes.toString("latin1", 0, 4);
  if (start === "PK\x03\x04" || start === "PK\x05\x06") {
    const { readZip } = await import("./read-zip.ts");
    return readZip(bytes, limits);
  }
  if (isGzip(bytes)) {
    const most = limits.bytes + limits.files * HEADER_BYTES + FRAME_BYTES;
    return readTar(createByteReader(unpackGzip(bytes, most)));
  }
  if (bytes.toString("latin1", 257, 262) === "ustar") return readTar(createByteReader(once(bytes)));
  throw new RefusedTree("source.damaged", "It is neither a zip nor a tar archive, packed with gzip or not.");
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

function findTop(into: string): string {
  removeFolder(join(into, FINDER_FOLDER));
  const [only, ...others] = readdirSync(into);
  if (only === undefined) throw new RefusedTree("source.damaged", "There is nothing in it.");
  const top = join(into, only);
  return others.length === 0 && lstatSync(top).isDirectory() ? top : into;
}
