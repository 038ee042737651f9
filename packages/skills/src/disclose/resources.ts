/**
 * Tier 3: which files a skill brings along, and one of them, whole or a range of it; and the real folder they are read from.
 * Everything goes through the path gate.
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

/** By the folder it stands in, at any depth: `scripts`, `references`, `assets`, or none of these. */
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** A file that a skill brings along, besides its skill file. */
export interface SkillResource {
  /** Below the skill's folder, with `/` between segments: what `readResource` takes. */
  readonly path: string;
  /** The folder it is in. */
  readonly kind: ResourceKind;
  /** In bytes. */
  readonly size: number;
  /** By the file's name, or by its first bytes where the name says nothing. */
  readonly mediaType: string;
}

/** The files of a skill. */
export interface ResourceListing {
  /** By kind, then by path. */
  readonly resources: readonly SkillResource[];
  /** Files that are left out, and why; or why the folder cannot be listed. */
  readonly diagnostics: readonly Diagnostic[];
}

interface ListResourcesOptions extends FolderAccess {
  /** Files and folders; a skill with more is not listed at all. */
  readonly maxEntries?: number;
}

const MAX_ENTRIES = 20_000;
const SNIFFED_BYTES = 1024;

/** What is not listed is said. Every file of the skill except the skill file itself; none for a flat skill or one given as an object. */
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

/** What a server declares is all there is, fetched or not. */
function listDeclared({ uri, files }: RemoteOrigin): readonly SkillResource[] {
  const described = files
    .filter((file) => file.uri !== uri)
    .map(({ path, size }) => {
      const mediaType = mediaTypeByName(path) ?? "application/octet-stream";
      return { path, kind: kindOf(path), size, mediaType };
    });
  return sortByKind(described.sort((a, b) => compareText(a.path, b.path)));
}

/** Within a kind they stay as they are: by path. */
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
    message: `The files of the skill cannot be listed: ${detail}.`,
    hint: "Make the folder readable and its file names UTF-8, and keep only what the skill needs in it.",
  };
}

/** A file that is not given out; nothing for a link to a folder inside, whose files are listed where they lie. */
export function reportLeftOut(path: string, entry: ListedFile, fault: ContainedFault): readonly Diagnostic[] {
  if (fault.reason === "not-a-file" && entry.kind === "link") return [];
  const left = { severity: "warning", path, message: `It is left out: ${fault.message}` } as const;
  if (fault.reason === "outside") {
    const hint = "Copy the file into the skill's folder instead of linking to it.";
    return [{ code: "resource.link-escapes", ...left, hint }];
  }
  if (fault.reason === "missing" && entry.kind === "link") return [{ code: "link.dangling", ...left }];
  const isSpecial = fault.reason === "not-a-file";
  return [{ code: isSpecial ? "resource.special-file" : "resource.unreadable", ...left }];
}

/** Bytes of the file, `start` included and `end` not; what lies beyond the end of the file is not there. */
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
  /** By default text where the file is text, bytes otherwise. */
  readonly as?: "text" | "bytes";
}

/** A file of a skill, or a range of it, as text or as bytes. */
export interface ResourceContent {
  /** As it was asked for. */
  readonly path: string;
  /** By the file's name, or by what was read where the name says nothing. */
  readonly mediaType: string;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** What was read; a text never begins or ends within a character. */
  readonly range: Required<ByteRange>;
  /** Either `text` or `bytes`. */
  readonly text?: string;
  /** Present when `text` is not: for a file that is not text, or when bytes were asked for. */
  readonly bytes?: Uint8Array;
}

const MAX_RESOURCE_BYTES: number = 1024 * 1024;

/** One file as text or bytes. Throws `SkillResourceError` whose `reason` says why nothing is given out. */
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
    const message = `${showPath(path)} would give ${wanted} bytes; at most ${maxBytes} are read at once.`;
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

// A catalog is a snapshot, so it is checked again on every use that the skill's folder still lies where skills may lie, and
// still is that skill's.

export interface FolderAccess {
  /**
   * The skills directories in use: the skill's folder or file may be a link into any of them. By default only into the
   * one it was found under.
   */
  readonly roots?: readonly string[];
}

/** What is needed of a skill to find its files. */
export type LocatedSkill = Pick<Skill, "name" | "form" | "location" | "directory" | "root" | "remote">;

/** Real paths into which the links of this skill's folder and file may lead. */
export function realRoots({ root }: LocatedSkill, { roots = [] }: FolderAccess): readonly string[] {
  return [root, ...roots].map(realPathOr);
}

/** Only a folder can hold more than the skill file: a flat skill shares its folder with others. */
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
    const hint = "Load the catalog again; the skill may have been removed.";
    const message = `\`${location}\` is not there any more.`;
    throw new SkillResourceError(name, location, "missing", message, { cause, hint });
  }
  // A root may also be the skill file itself, asked for by its path.
  if (!roots.some((root) => isInside(folder, root) || root === file)) {
    const message = `its folder \`${directory}\` is a link that leads out of the skills directories.`;
    throw new SkillResourceError(name, directory, "outside", message);
  }
  const opened = withContained(openContained(folder, basename(location), roots), () => undefined);
  if (opened) throw new SkillResourceError(name, location, opened.reason, opened.message);
  return folder;
}
