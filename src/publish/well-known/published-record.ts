/**
 * Which files of a published folder are ours, with their digests: nothing else is ever replaced or removed there. The
 * record lies beside them and is no more trusted than they are: it can name only files of the forms that we write.
 */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readBounded } from "../../host/read-bounded.ts";
import { replaceFile } from "../../host/write-atomic.ts";
import { isJsonObject, parseJsonObject } from "../../install/json-object.ts";
import { digestBytes } from "../../trust/identify-file.ts";
import { ARTIFACT_FILE } from "./build-artifact.ts";

export const INDEX_FILE = "index.json";
export const RECORD_FILE = ".metier-published.json";
const VERSION = 1;
const MAX_RECORD_BYTES: number = 4 * 1024 * 1024;

/** Digests by file name. */
export type PublishedFiles = ReadonlyMap<string, string>;

/** A record that cannot be read records nothing: then nothing there is ours. */
export function readRecord(folder: string): PublishedFiles {
  const read = readBounded(join(folder, RECORD_FILE), MAX_RECORD_BYTES);
  const record = read.ok ? parseJsonObject(read.text) : undefined;
  const files = record?.version === VERSION && isJsonObject(record.files) ? record.files : {};
  return new Map(
    Object.entries(files).filter(
      (entry): entry is [string, string] =>
        (entry[0] === INDEX_FILE || ARTIFACT_FILE.test(entry[0])) && typeof entry[1] === "string",
    ),
  );
}

export function writeRecord(folder: string, files: PublishedFiles): void {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${JSON.stringify({ version: VERSION, files: Object.fromEntries(sorted) }, undefined, 2)}\n`;
  replaceFile(join(folder, RECORD_FILE), text, { mode: PUBLIC_MODE });
}

/** Web servers run as someone else. */
export const PUBLIC_MODE = 0o644;

export type FileState = "absent" | "same" | "ours" | "foreign";

/** What stands there: nothing, just what is to be written, what we wrote, or something of someone else. */
export function stateOf(folder: string, file: string, digest: string, recorded: PublishedFiles): FileState {
  const place = join(folder, file);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  if (!stats.isFile()) return "foreign";
  const actual = digestBytes(readFileSync(place));
  if (actual === digest) return "same";
  return actual === recorded.get(file) ? "ours" : "foreign";
}
