/**
 * What a skill is, byte for byte: the unit of skill grants, lockfile entries and reports. No file is left out.
 * A link enters as its target text and is never followed. Computed when one of these needs it, never just to list.
 */
import { createHash } from "node:crypto";
import { compareText } from "../foundation/diagnostic.ts";
import { type IdentifiedFile, identifyFile, type StampedFile } from "./identify-file.ts";
import type { IdentityFault } from "./identity-fault.ts";
import {
  type ContentListing,
  IDENTITY_LIMITS,
  type IdentityLimits,
  listContent,
  listFolderContent,
  type SkillContent,
} from "./list-content.ts";

export interface ContentIdentity {
  /** `sha256:…` */
  readonly digest: string;
  /** Sorted by the bytes of the UTF-8 path. */
  readonly files: readonly StampedFile[];
}

export type IdentityOutcome = { readonly ok: true; readonly identity: ContentIdentity } | IdentityFault;

export type ContentChange = "added" | "removed" | "changed" | "mode";

export interface FileChange {
  readonly path: string;
  readonly change: ContentChange;
}

/** Hashes a skill's folder; of a flat skill, its one file under its file name. */
export function identifyContent(
  content: SkillContent,
  limits: IdentityLimits = IDENTITY_LIMITS,
): IdentityOutcome {
  return identifyListing(listContent(content, limits), limits);
}

/** The same for a folder as such, whichever file in it is the skill's. */
export function identifyFolder(folder: string, limits: IdentityLimits = IDENTITY_LIMITS): IdentityOutcome {
  return identifyListing(listFolderContent(folder, limits), limits);
}

function identifyListing(listing: ContentListing, limits: IdentityLimits): IdentityOutcome {
  if (!listing.ok) return listing;
  const files: StampedFile[] = [];
  let bytesLeft = limits.bytes;
  for (const entry of listing.files) {
    const outcome = identifyFile(entry, bytesLeft);
    if (!outcome.ok) return outcome;
    files.push(outcome.file);
    bytesLeft -= outcome.file.size;
  }
  return { ok: true, identity: { digest: digestFiles(files), files } };
}

/** The digest of content with these files. Per file, in the order given: u32be path length, path, u64be size, one mode byte, the file's 32-byte SHA-256. */
export function digestFiles(files: readonly IdentifiedFile[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    const path = Buffer.from(file.path);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(path.length);
    const tail = Buffer.alloc(9);
    tail.writeBigUInt64BE(BigInt(file.size));
    tail.writeUInt8(modeByte(file), 8);
    hash
      .update(head)
      .update(path)
      .update(tail)
      .update(Buffer.from(file.digest.slice("sha256:".length), "hex"));
  }
  return `sha256:${hash.digest("hex")}`;
}

/** The executable bit; 2 for a link, or a file that holds a path could be swapped for a link to that path. */
function modeByte(file: IdentifiedFile): 0 | 1 | 2 {
  if (file.kind === "link") return 2;
  return file.executable ? 1 : 0;
}

/** What differs, sorted by path; a renamed file is one removed and one added. `mode`: only the executable bit. */
export function compareIdentity(
  before: readonly IdentifiedFile[],
  after: readonly IdentifiedFile[],
): readonly FileChange[] {
  const unseen = new Map(before.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  for (const file of after) {
    const change = compareFile(unseen.get(file.path), file);
    if (change) changes.push({ path: file.path, change });
    unseen.delete(file.path);
  }
  for (const path of unseen.keys()) changes.push({ path, change: "removed" });
  return changes.sort((a, b) => compareText(a.path, b.path));
}

export function compareFile(
  before: IdentifiedFile | undefined,
  after: IdentifiedFile,
): ContentChange | undefined {
  if (!before) return "added";
  if (before.kind !== after.kind || before.digest !== after.digest) return "changed";
  return before.executable === after.executable ? undefined : "mode";
}
