/**
 * What copies of installed skills are, for lists: hashed once, and known from then on as long as no stamp of a file
 * differs. Only a cache under the home folder, and never asked for a use. Hashing is bounded, since a project's lock may
 * name anything in the project.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { realPathOr } from "../host/project-folders.ts";
import { readBounded } from "../host/read-bounded.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { type ContentIdentity, identifyFolder } from "../trust/content-identity.ts";
import { digestBytes, stampOf } from "../trust/identify-file.ts";
import { listFolderContent } from "../trust/list-content.ts";

export interface KnownDigests {
  /** The content identity of a folder; `undefined` where it cannot be told within the limits. */
  of(folder: string): string | undefined;
}

const MAX_ENTRIES = 2_000;
const MAX_RECORD_BYTES = 1024 * 1024;
/** For all folders of one list together. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** Without a cache folder everything is hashed each time. */
export function openKnownDigests(cacheFolder: string | undefined): KnownDigests {
  let bytesLeft = MAX_HASHED_BYTES;
  return {
    of(folder) {
      const real = realPathOr(folder);
      const record =
        cacheFolder && join(cacheFolder, "identities", `${digestBytes(real).slice("sha256:".length)}.json`);
      const known = record && recall(record, real);
      if (known) return known;
      const outcome = identifyFolder(real, { entries: MAX_ENTRIES, bytes: bytesLeft });
      if (!outcome.ok) return undefined;
      bytesLeft -= outcome.identity.files.reduce((sum, { size }) => sum + size, 0);
      if (record) keep(record, outcome.identity);
      return outcome.identity.digest;
    },
  };
}

/** By its path, the stamp of each file. */
type Stamps = Readonly<Record<string, unknown>>;

function recall(record: string, folder: string): string | undefined {
  const read = readBounded(record, MAX_RECORD_BYTES);
  if (!read.ok) return undefined;
  try {
    const { digest, stamps } = JSON.parse(read.text) as { readonly digest: unknown; readonly stamps: Stamps };
    return typeof digest === "string" && hasStamps(folder, stamps) ? digest : undefined;
  } catch {
    return undefined; // Damaged, or a file went away: it is hashed again.
  }
}

function hasStamps(folder: string, stamps: Stamps): boolean {
  const listing = listFolderContent(folder, { entries: MAX_ENTRIES, bytes: 0 });
  return (
    listing.ok &&
    listing.files.length === Object.keys(stamps).length &&
    listing.files.every(({ path, file }) => stamps[path] === stampOf(lstatSync(file, { bigint: true })))
  );
}

function keep(record: string, { digest, files }: ContentIdentity): void {
  const stamps = Object.fromEntries(files.map(({ path, stamp }) => [path, stamp]));
  try {
    writeAtomic(record, JSON.stringify({ digest, stamps }), { flush: false });
  } catch {
    // No room or no permission: the next list hashes it again.
  }
}
