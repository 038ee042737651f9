/** What a run left in its work folder: regular files with their sizes, sorted, bounded. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "../host/list-files.ts";
import type { RunResult } from "./run-result.ts";

const MAX_ENTRIES = 10_000;
const MAX_LISTED = 500;

export function listWorkFiles(workDir: string): RunResult["files"] {
  const listing = listFiles(workDir, MAX_ENTRIES);
  if (!listing.ok) return []; // More than anyone reads, or a name that is no text: the folder itself is kept.
  return listing.files
    .filter(({ kind }) => kind === "file")
    .slice(0, MAX_LISTED)
    .map(({ path }) => ({ path, size: sizeOf(join(workDir, path)) }));
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
