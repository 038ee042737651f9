/** Tier 3: one file of a skill, whole or a range of it, as text or bytes. Everything goes through the one path gate. */
import { readSync } from "node:fs";
import { type ResourceFault, SkillResourceError } from "../foundation/errors.ts";
import { showPath } from "../host/contained-path.ts";
import {
  type ContainedFault,
  type ContainedFile,
  openContained,
  withContained,
} from "../host/open-contained.ts";
import { isText, mediaTypeOf, partialEdges } from "./media-type.ts";
import { type FolderAccess, hasFolder, type LocatedSkill, requireSkillFolder } from "./skill-folder.ts";

/** Bytes of the file, `start` included and `end` not; what lies beyond the end of the file is not there. */
export interface ByteRange {
  readonly start?: number;
  readonly end?: number;
}

export interface ReadResourceOptions extends FolderAccess {
  readonly range?: ByteRange;
  /** More than this in one answer is refused. */
  readonly maxBytes?: number;
  /** By default text where the file is text, bytes otherwise. */
  readonly as?: "text" | "bytes";
}

export interface ResourceContent {
  /** As it was asked for. */
  readonly path: string;
  readonly mediaType: string;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** What was read; a text never begins or ends within a character. */
  readonly range: Required<ByteRange>;
  /** Either `text` or `bytes`. */
  readonly text?: string;
  readonly bytes?: Uint8Array;
}

const MAX_RESOURCE_BYTES: number = 1024 * 1024;

/** Throws `SkillResourceError` whose `reason` says why nothing is given out. */
export function readResource(
  skill: LocatedSkill,
  path: string,
  options: ReadResourceOptions = {},
): ResourceContent {
  const refuse = (reason: ResourceFault, message: string, hint?: string): never => {
    throw new SkillResourceError(skill.name, String(path), reason, message, { hint });
  };
  if (!hasFolder(skill)) {
    return refuse("missing", `it has no folder of its own, so there is no ${showPath(String(path))}.`);
  }
  const folder = requireSkillFolder(skill, options);
  const read = withContained(openContained(folder, path), (file) => readFile(file, path, options));
  if (!("ok" in read)) return read;
  return refuse(read.reason, read.message, HINTS[read.reason]);
}

const HINTS: Partial<Record<ResourceFault, string>> = {
  missing: "The list of the skill's files names what there is.",
  "too-large": "Ask for a range of it.",
};

function readFile(
  { descriptor, stats }: ContainedFile,
  path: string,
  { range = {}, maxBytes = MAX_RESOURCE_BYTES, as }: ReadResourceOptions,
): ResourceContent | ContainedFault {
  const size = Number(stats.size);
  const { start = 0, end = Math.max(start, size) } = range;
  if (!isOffset(start) || !isOffset(end) || start > end) {
    const message = `the range ${start} to ${end} is none: give whole numbers, the smaller one first.`;
    return { ok: false, reason: "invalid", message };
  }
  const from = Math.min(start, size);
  const wanted = Math.min(end, size) - from;
  if (wanted > maxBytes) {
    return {
      ok: false,
      reason: "too-large",
      message: `${showPath(path)} would give ${wanted} bytes; at most ${maxBytes} are read at once.`,
    };
  }
  const bytes = readAt(descriptor, from, wanted);
  return describeContent(bytes, { path, size, from, as });
}

function isOffset(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Fewer bytes when the file has become shorter meanwhile. */
function readAt(descriptor: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let size = 0;
  while (size < length) {
    const read = readSync(descriptor, bytes, size, length - size, from + size);
    if (read === 0) break;
    size += read;
  }
  return bytes.subarray(0, size);
}

interface Reading {
  readonly path: string;
  readonly size: number;
  readonly from: number;
  readonly as?: "text" | "bytes" | undefined;
}

function describeContent(bytes: Buffer, { path, size, from, as }: Reading): ResourceContent | ContainedFault {
  const to = from + bytes.length;
  const edges = partialEdges(bytes);
  const before = from > 0 ? edges.before : 0;
  const after = to < size ? edges.after : 0;
  const whole = bytes.subarray(before, bytes.length - after);
  const mediaType = mediaTypeOf(path, whole);
  if (as === "bytes" || (as === undefined && !isText(whole))) {
    return { path, mediaType, size, range: { start: from, end: to }, bytes };
  }
  if (whole.includes(0)) {
    const message = `${showPath(path)} is not text (${mediaType}); read it as bytes.`;
    return { ok: false, reason: "invalid", message };
  }
  const text = new TextDecoder().decode(whole);
  return { path, mediaType, size, range: { start: from + before, end: to - after }, text };
}
