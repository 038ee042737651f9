/**
 * How much a source may hold, and whether a folder keeps to it: every file below it is looked at, no link is followed,
 * nothing is read. What may be in a source at all is decided entry by entry in `entry-check.ts`.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { listFiles } from "../host/list-files.ts";
import { startEntryCheck } from "./entry-check.ts";

export interface SourceLimits {
  readonly files: number;
  /** Of all files together; what is downloaded for them may have as many. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Of folders in one another. */
  readonly depth: number;
  /** Of one path, in UTF-8. */
  readonly pathBytes: number;
  /** How long a server may be silent. */
  readonly idleMs: number;
  /** For the whole fetch. */
  readonly totalMs: number;
}

export const SOURCE_LIMITS: SourceLimits = {
  files: 20_000,
  bytes: 256 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  depth: 32,
  pathBytes: 1024,
  idleMs: 60_000,
  totalMs: 600_000,
};

/** Files and folders; a tree of nothing but folders is one, too. */
export const MAX_ENTRIES_PER_FILE: number = 4;

/** What is wrong with a folder that is to be installed; errors among it mean that it must not be. */
export function checkTree(folder: string, limits: SourceLimits = SOURCE_LIMITS): readonly Diagnostic[] {
  const listing = listFiles(folder, limits.files * MAX_ENTRIES_PER_FILE);
  if (!listing.ok) {
    const code = {
      "too-many": "tree.limit",
      "name-not-utf8": "tree.name",
      unreadable: "source.unreadable",
    } as const;
    const message = {
      "too-many": `It has ${listing.detail}.`,
      "name-not-utf8": `The file name \`${listing.detail}\` is not UTF-8.`,
      unreadable: `It cannot be listed: ${listing.detail}.`,
    };
    return [
      { code: code[listing.fault], severity: "error", message: message[listing.fault], path: listing.path },
    ];
  }
  const check = startEntryCheck(folder, limits);
  const found: Diagnostic[] = [];
  for (const { path, kind } of listing.files) {
    const file = join(folder, path);
    const { size, mode } = lstatSync(file);
    const target = kind === "link" ? { target: readlinkSync(file) } : {};
    found.push(...check({ path, kind, bytes: kind === "file" ? size : 0, mode, ...target }));
    if (found.some(({ code }) => code === "tree.limit")) break; // What comes after it is too much as well.
  }
  return found;
}
