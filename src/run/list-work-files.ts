/** What a run left in its work folder: regular files with their sizes, sorted, bounded; and how much is not listed. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { listFiles } from "../host/list-files.ts";
import type { RunResult } from "./run-result.ts";

const MAX_ENTRIES = 10_000;
const MAX_LISTED = 500;

export interface WorkFiles {
  readonly files: RunResult["files"];
  readonly diagnostics: readonly Diagnostic[];
}

export function listWorkFiles(workDir: string): WorkFiles {
  const listing = listFiles(workDir, MAX_ENTRIES);
  if (!listing.ok) {
    return { files: [], diagnostics: [unlisted(workDir, `None of its files is listed: ${listing.detail}.`)] };
  }
  const all = listing.files.filter(({ kind }) => kind === "file");
  const files = all.slice(0, MAX_LISTED).map(({ path }) => ({ path, size: sizeOf(join(workDir, path)) }));
  const left = all.length - files.length;
  const message = `It left ${all.length} files; the last ${left} of them are not listed, nor copied by \`--out\`.`;
  return { files, diagnostics: left > 0 ? [unlisted(workDir, message)] : [] };
}

function unlisted(path: string, message: string): Diagnostic {
  return {
    code: "run.files-unlisted",
    severity: "warning",
    path,
    message,
    hint: "The work folder itself is kept: take them from there.",
  };
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
