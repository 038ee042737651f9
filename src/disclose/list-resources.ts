/** Tier 3: which files a skill brings along, by kind, without their content. What is not listed is said. */
import { readSync } from "node:fs";
import { join } from "node:path";
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import { type ListedFile, listFiles } from "../host/list-files.ts";
import {
  type ContainedFault,
  type ContainedFile,
  openContained,
  withContained,
} from "../host/open-contained.ts";
import type { RemoteOrigin } from "../skill/skill.ts";
import { mediaTypeByName, mediaTypeOf, partialEdges } from "./media-type.ts";
import { type FolderAccess, hasFolder, type LocatedSkill, requireSkillFolder } from "./skill-folder.ts";

export const RESOURCE_KINDS = ["scripts", "references", "assets", "other"] as const;

/** By the folder it stands in, at any depth: `scripts`, `references`, `assets`, or none of these. */
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

export interface SkillResource {
  /** Below the skill's folder, with `/` between segments: what `readResource` takes. */
  readonly path: string;
  readonly kind: ResourceKind;
  /** In bytes. */
  readonly size: number;
  readonly mediaType: string;
}

export interface ResourceListing {
  /** By kind, then by path. */
  readonly resources: readonly SkillResource[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ListResourcesOptions extends FolderAccess {
  /** Files and folders; a skill with more is not listed at all. */
  readonly maxEntries?: number;
}

const MAX_ENTRIES = 20_000;
const SNIFFED_BYTES = 1024;

/** Every file of the skill except the skill file itself; none for a flat skill or one given as an object. */
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
    const described = withContained(openContained(folder, entry.path), (file) => describe(entry.path, file));
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

function describe(path: string, { descriptor, stats }: ContainedFile): SkillResource {
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
  const code =
    fault.reason === "outside"
      ? "resource.link-escapes"
      : fault.reason === "missing" && entry.kind === "link"
        ? "link.dangling"
        : fault.reason === "not-a-file"
          ? "resource.special-file"
          : "resource.unreadable";
  const hint =
    fault.reason === "outside"
      ? "Copy the file into the skill's folder instead of linking to it."
      : undefined;
  const message = `It is left out: ${fault.message}`;
  return [{ code, severity: "warning", path, message, ...(hint && { hint }) }];
}
