/**
 * One file's part of a content identity. Stamp and digest come from the same open file, and a file that changes
 * while it is read has neither: a digest never belongs to other bytes than its stamp.
 */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { type IdentityFault, identityFault, unreadableFault } from "./identity-fault.ts";
import type { ContentFile } from "./list-content.ts";

export interface IdentifiedFile {
  /** Below the skill's folder, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "link";
  /** In bytes; of a link, the length of its target. */
  readonly size: number;
  /** For anyone: owner, group or others. Never true for a link, nor on Windows. */
  readonly executable: boolean;
  /** `sha256:…` of the content; of a link, of its target. */
  readonly digest: string;
}

export interface StampedFile extends IdentifiedFile {
  /** Device, inode, mode, size and times: as long as they stay, so does the content. */
  readonly stamp: string;
}

export type FileOutcome = { readonly ok: true; readonly file: StampedFile } | IdentityFault;

const CHUNK = 1024 * 1024;
/** Never through a link, and never waiting for the other end of a FIFO that took the file's place. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Hashes one file or link of at most `maxBytes`. */
export function identifyFile(entry: ContentFile, maxBytes: number): FileOutcome {
  try {
    return entry.kind === "link" ? identifyLink(entry) : identifyRegularFile(entry, maxBytes);
  } catch (error) {
    return unreadableFault(entry.file, error);
  }
}

export function stampOf(stats: BigIntStats): string {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats;
  return `${dev}:${ino}:${mode}:${size}:${mtimeNs}:${ctimeNs}`;
}

export function digestBytes(content: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function identifyLink({ path, file }: ContentFile): FileOutcome {
  const stamp = stampOf(lstatSync(file, { bigint: true }));
  const target = readlinkSync(file, { encoding: "buffer" });
  if (stampOf(lstatSync(file, { bigint: true })) !== stamp) return unstableFault(file);
  const digest = digestBytes(target);
  return { ok: true, file: { path, kind: "link", size: target.length, executable: false, digest, stamp } };
}

function identifyRegularFile({ path, file }: ContentFile, maxBytes: number): FileOutcome {
  const descriptor = openSync(file, OPEN_FLAGS);
  try {
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return unstableFault(file);
    if (before.size > maxBytes) {
      const message = `It has ${before.size} bytes, and a skill of the size allowed has ${maxBytes} left for it.`;
      return identityFault("identity.limit", file, message);
    }
    const size = Number(before.size);
    const digest = hashBytes(descriptor, size);
    const stamp = stampOf(before);
    if (digest === undefined || stampOf(fstatSync(descriptor, { bigint: true })) !== stamp)
      return unstableFault(file);
    const executable = (before.mode & 0o111n) !== 0n;
    return { ok: true, file: { path, kind: "file", size, executable, digest, stamp } };
  } finally {
    closeSync(descriptor);
  }
}

/** `undefined` when the file does not hold exactly `size` bytes. */
function hashBytes(descriptor: number, size: number): string | undefined {
  const hash = createHash("sha256");
  // One byte more than expected, to notice a file that has grown.
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size + 1));
  let total = 0;
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    total += read;
    if (total > size) return undefined;
    hash.update(chunk.subarray(0, read));
  }
  return total === size ? `sha256:${hash.digest("hex")}` : undefined;
}

function unstableFault(file: string): IdentityFault {
  return identityFault("identity.unstable", file, "It changed while it was read.");
}
