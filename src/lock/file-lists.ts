/**
 * Which files an installed skill consists of, by its digest: so that `verify` can name the files that differ, offline.
 * Nobody has to believe a list: the digest is that of the list, so one that was changed is not used.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../host/places.ts";
import { readBounded } from "../host/read-bounded.ts";
import { replaceFile } from "../host/write-atomic.ts";
import { digestFiles } from "../trust/content-identity.ts";
import type { IdentifiedFile } from "../trust/identify-file.ts";

type ListPlaces = Pick<Places, "state">;

const MAX_BYTES = 16 * 1024 * 1024;

/** What a content identity says, without the stamps of one place. */
export interface FileList {
  readonly digest: string;
  readonly files: readonly IdentifiedFile[];
}

export function rememberFiles(places: ListPlaces, { digest, files }: FileList): void {
  if (recallFiles(places, digest)) return;
  const rows = files.map(({ path, kind, size, executable, digest: content }) => ({
    path,
    kind,
    size,
    executable,
    digest: content,
  }));
  mkdirSync(listsFolder(places), { recursive: true, mode: 0o700 });
  replaceFile(listFile(places, digest), JSON.stringify(rows), { flush: false });
}

/** `undefined` when there is none, or none that gives this digest. */
export function recallFiles(places: ListPlaces, digest: string): readonly IdentifiedFile[] | undefined {
  const read = readBounded(listFile(places, digest), MAX_BYTES);
  if (!read.ok) return undefined;
  try {
    const files = JSON.parse(read.text) as readonly IdentifiedFile[];
    return digestFiles(files) === digest ? files : undefined;
  } catch {
    return undefined; // Not what was written: `verify` then compares folders as a whole.
  }
}

/** Forgets the lists of content that no lock records any more. */
export function forgetFiles(places: ListPlaces, recorded: ReadonlySet<string>, olderThanMs: number): void {
  const folder = listsFolder(places);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  const kept = new Set([...recorded].map((digest) => listFile(places, digest)));
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const writtenAt = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (!kept.has(file) && Date.now() - writtenAt >= olderThanMs) rmSync(file, { force: true });
  }
}

function listsFolder({ state }: ListPlaces): string {
  return join(state, "contents");
}

function listFile(places: ListPlaces, digest: string): string {
  return join(listsFolder(places), `${digest.slice("sha256:".length)}.json`);
}
