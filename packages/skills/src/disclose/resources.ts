/**
 * Tier 3: lists a skill's files, reads one of them or a range of it, and finds their real folder. Everything goes
 * through the path gate.
 */
import { readSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { type ResourceFault, SkillResourceError } from "@metier/base/errors";
import {
  type ContainedFault,
  type ContainedFile,
  type ListedFile,
  listFiles,
  openContained,
  showPath,
  withContained,
} from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import type { RemoteOrigin, Skill } from "../skill/skill.ts";
import { isText, mediaTypeByName, mediaTypeOf, partialEdges } from "./media-type.ts";

const RESOURCE_KINDS = ["scripts", "references", "assets", "other"] as const;

/** By the folder it is in, at any depth: `scripts`, `references`, `assets`, or none of these. */
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** A file of a skill, besides its skill file. */
export interface SkillResource {
  /** Inside the skill's folder, with `/` between segments: the argument of `readResource`. */
  readonly path: string;
  /** The folder it is in. */
  readonly kind: ResourceKind;
  /** In bytes. */
  readonly size: number;
  /** From the file's name, or its first bytes if the name does not tell. */
  readonly mediaType: string;
}

/** The files of a skill. */
export interface ResourceListing {
  /** By kind, then by path. */
  readonly resources: readonly SkillResource[];
  /** Files that were left out, and why; or why the folder cannot be listed. */
  readonly diagnostics: readonly Diagnostic[];
}

interface ListResourcesOptions extends FolderAccess {
  /** Files and folders; a skill with more is not listed at all. */
  readonly maxEntries?: number;
}

const MAX_ENTRIES = 20_000;
const SNIFFED_BYTES = 1024;

/**
 * Reports what is not listed. Every file of the skill except the skill file; none for a flat skill or one defined in
 * code.
 */
export function listResources(skill: LocatedSkill, options: ListResourcesOptions = {}): ResourceListing {
  if (!hasFolder(skill)) return { resources: [], diagnostics: [] };
  if (skill.remote) return { resources: listDeclared(skill.remote), diagnostics: [] };
  const folder = requireSkillFolder(skill, options);
  const listing = listFiles(folder, options.maxEntries ?? MAX_ENTRIES);
  if (!listing.ok) return { resources: [], diagnostics: [reportUnlistable(listing.path, listing.detail)] };
  const resources: SkillResource[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const entry of listing.files) {
    if (join(skill.directory, entry.path) === skill.location) continue;
    const opened = openContained(folder, entry.path);
    const described = withContained(opened, (file) => describeFile(entry.path, file));
    if (!("ok" in described)) resources.push(described);
    else diagnostics.push(...reportLeftOut(join(folder, entry.path), entry, described));
  }
  return { resources: sortByKind(resources), diagnostics };
}

/** Only what a server declares exists, fetched or not. */
function listDeclared({ uri, files }: RemoteOrigin): readonly SkillResource[] {
  const described = files
    .filter((file) => file.uri !== uri)
    .map(({ path, size }) => {
      const mediaType = mediaTypeByName(path) ?? "application/octet-stream";
      return { path, kind: kindOf(path), size, mediaType };
    });
  return sortByKind(described.sort((a, b) => compareText(a.path, b.path)));
}

/** Within a kind they keep their order: by path. */
function sortByKind(resources: readonly SkillResource[]): readonly SkillResource[] {
  const order = new Map(RESOURCE_KINDS.map((kind, position) => [kind, position]));
  return resources.toSorted((a, b) => (order.get(a.kind) ?? 0) - (order.get(b.kind) ?? 0));
}

function describeFile(path: string, { descriptor, stats }: ContainedFile): SkillResource {
  const mediaType = mediaTypeByName(path) ?? sniff(path, descriptor);
  return { path, kind: kindOf(path), size: Number(stats.size), mediaType };
}

function sniff(path: string, descriptor: number): string {
  const buffer = Buffer.alloc(SNIFFED_BYTES);
  const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, SNIFFED_BYTES, 0));
  const { after } = partialEdges(bytes);
  return mediaTypeOf(path, bytes.subarray(0, bytes.length - after));
}

function kindOf(path: string): ResourceKind {
  const folder = path.slice(0, Math.max(path.indexOf("/"), 0));
  return RESOURCE_KINDS.find((kind) => kind === folder) ?? "other";
}

function reportUnlistable(path: string, detail: string): Diagnostic {
  return {
    code: "resource.unlistable",
    severity: "warning",
    path,
    message: `The skill's files cannot be listed: ${detail}.`,
    hint: "Make the folder readable and its file names UTF-8, and keep only what the skill needs in it.",
  };
}

/** A file that is refused; `undefined` for a link to a folder inside, whose files are listed at their own paths. */
export function reportLeftOut(path: string, entry: ListedFile, fault: ContainedFault): readonly Diagnostic[] {
  if (fault.reason === "not-a-file" && entry.kind === "link") return [];
  const left = { severity: "warning", path, message: `It was left out: ${fault.message}` } as const;
  if (fault.reason === "outside") {
    const hint = "Copy the file into the skill's folder instead of linking to it.";
    return [{ code: "resource.link-escapes", ...left, hint }];
  }
  if (fault.reason === "missing" && entry.kind === "link") return [{ code: "link.dangling", ...left }];
  const isSpecial = fault.reason === "not-a-file";
  return [{ code: isSpecial ? "resource.special-file" : "resource.unreadable", ...left }];
}

/** Bytes of the file, `start` inclusive and `end` exclusive; bytes past the end of the file do not exist. */
export interface ByteRange {
  /** The first byte, from 0. Default: 0. */
  readonly start?: number;
  /** The byte after the last one. Default: the size of the file. */
  readonly end?: number;
}

export interface ReadResourceOptions extends FolderAccess {
  readonly range?: ByteRange;
  /** More than this in one answer is refused. */
  readonly maxBytes?: number;
  /** By default text if the file is text, otherwise bytes. */
  readonly as?: "text" | "bytes";
}

/** A file of a skill, or a range of it, as text or as bytes. */
export interface ResourceContent {
  /** As requested. */
  readonly path: string;
  /** From the file's name, or what was read if the name does not tell. */
  readonly mediaType: string;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** What was read; a text never starts or ends within a character. */
  readonly range: Required<ByteRange>;
  /** Either `text` or `bytes`. */
  readonly text?: string;
  /** Present if `text` is not: for a file that is not text, or if bytes were requested. */
  readonly bytes?: Uint8Array;
}

const MAX_RESOURCE_BYTES: number = 1024 * 1024;

/** One file as text or bytes. Throws `SkillResourceError` whose `reason` says why it was refused. */
export function readResource(
  skill: LocatedSkill,
  path: string,
  options: ReadResourceOptions = {},
): ResourceContent {
  const refuse = (reason: ResourceFault, message: string, hint?: string): never => {
    throw new SkillResourceError(skill.name, String(path), reason, message, { hint });
  };
  if (!hasFolder(skill)) {
    return refuse("missing", `the skill has no folder, so it has no ${showPath(String(path))}.`);
  }
  const folder = requireSkillFolder(skill, options);
  const read = withContained(openContained(folder, path), (file) => readFile(file, path, options));
  if (!("ok" in read)) return read;
  return refuse(read.reason, read.message, HINTS[read.reason]);
}

const HINTS: Partial<Record<ResourceFault, string>> = {
  missing: "See the list of the skill's files.",
  "too-large": "Ask for a range.",
};

function readFile(
  { descriptor, stats }: ContainedFile,
  path: string,
  { range = {}, maxBytes = MAX_RESOURCE_BYTES, as }: ReadResourceOptions,
): ResourceContent | ContainedFault {
  const size = Number(stats.size);
  const { start = 0, end = Math.max(start, size) } = range;
  if (!isOffset(start) || !isOffset(end) || start > end) {
    const message = `the range ${start} to ${end} is not valid: use whole numbers, the smaller one first.`;
    return { ok: false, reason: "invalid", message };
  }
  const from = Math.min(start, size);
  const wanted = Math.min(end, size) - from;
  if (wanted > maxBytes) {
    const message = `${showPath(path)} would return ${wanted} bytes; the limit for one read is ${maxBytes} bytes.`;
    return { ok: false, reason: "too-large", message };
  }
  const bytes = readAt(descriptor, from, wanted);
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

function isOffset(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Fewer bytes if the file became shorter in the meantime. */
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

// A catalog is a snapshot, so every use checks again that the skill's folder is still where skills may be, and still
// that skill's.

export interface FolderAccess {
  /**
   * The skills directories in use: the skill's folder or file may be a link into any of them. By default only into the
   * one it was found in.
   */
  readonly roots?: readonly string[];
}

/** What is needed to find a skill's files. */
export type LocatedSkill = Pick<Skill, "name" | "form" | "location" | "directory" | "root" | "remote">;

/** Real paths where links of this skill's folder and file may lead. */
export function realRoots({ root }: LocatedSkill, { roots = [] }: FolderAccess): readonly string[] {
  return [root, ...roots].map(realPathOr);
}

/** Only a folder can contain more than the skill file: a flat skill shares its folder with others. */
export function hasFolder({ form, location }: LocatedSkill): boolean {
  return form === "directory" && location !== "";
}

/** The real folder of a skill that has one. Throws `SkillResourceError`. */
export function requireSkillFolder(skill: LocatedSkill, access: FolderAccess = {}): string {
  const { name, directory, location } = skill;
  const roots = realRoots(skill, access);
  let folder: string;
  let file: string;
  try {
    folder = realpathSync.native(directory);
    file = realpathSync.native(location);
  } catch (cause) {
    const hint = "Reload the catalog; the skill may have been removed.";
    const message = `\`${location}\` no longer exists.`;
    throw new SkillResourceError(name, location, "missing", message, { cause, hint });
  }
  // A root may also be the skill file itself, requested by path.
  if (!roots.some((root) => isInside(folder, root) || root === file)) {
    const message = `its folder \`${directory}\` is a link that points outside the skills directories.`;
    throw new SkillResourceError(name, directory, "outside", message);
  }
  const opened = withContained(openContained(folder, basename(location), roots), () => undefined);
  if (opened) throw new SkillResourceError(name, location, opened.reason, opened.message);
  return folder;
}
