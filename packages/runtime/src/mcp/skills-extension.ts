/**
 * What the SDK's Skills extension asks, answered from the entries of the skills that the caller may use: pages, entries,
 * files and folders. What was hashed is remembered as long as no file's stamp has changed; which skills there are, and
 * whether they may be used, is asked anew each time. Only a list whose folders are watched stands for a second.
 */
import { lstatSync } from "node:fs";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import type { SkillLibrary } from "@metier/run";
import { type Catalog, type Conversation, hasFolder, isText, type Skill } from "@metier/skills";
import { listContent, stampOf } from "@metier/skills/trust";
import { ProtocolError, ProtocolErrorCode, type Resource, type Server } from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  type Skill as ListedSkill,
  type SkillReadResult,
  type SkillSource,
} from "@modelcontextprotocol/server/ext/skills";
import type { Metier } from "../runtime/create-metier.ts";
import { noteGiven, pageOf, pageResult, trustMeta } from "./connection.ts";
import {
  canonicalUri,
  type EntryFile,
  type EntryResult,
  readEntry,
  type SkillEntry,
  skillNameIn,
} from "./skill-entry.ts";

export function createSkillSource(
  library: SkillLibrary,
  entries: Entries,
  conversation: Conversation,
): SkillSource {
  return {
    async list({ cursor }) {
      const { items, ...rest } = pageOf(library.skills(), ({ name }) => name, cursor);
      return pageResult("skills", { items: (await entries.of(items)).map(toListed), ...rest });
    },
    async get(uri) {
      const found = await entries.at(uri);
      return found && found.uri === canonicalUri(uri) ? toListed(found) : undefined;
    },
    async read(uri) {
      const found = await entries.at(uri);
      const file = found?.files.find((candidate) => candidate.uri === canonicalUri(uri));
      if (!found || !file) return undefined;
      const content = readFile(file);
      noteGiven(conversation, found.skill.name, file.digest);
      return content;
    },
    async readDirectory(uri, { cursor }) {
      const found = await entries.at(uri);
      const children = found && childrenOf(found, canonicalUri(uri)?.replace(/\/$/, "") ?? "");
      return (
        children &&
        pageResult(
          "resources",
          pageOf(children, (child) => child.uri, cursor),
        )
      );
    },
  };
}

/** `resources/list`: the skill files. The SDK would give all of them at once. */
export function answerResourceList(server: Server, library: SkillLibrary, entries: Entries): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    const { items, ...rest } = pageOf(library.skills(), ({ name }) => name, params?.cursor);
    return pageResult("resources", { items: (await entries.of(items)).map(toResource), ...rest });
  });
}

function toListed({ uri, frontmatter, files, skill }: SkillEntry): ListedSkill {
  const resources = files.map(({ uri: file, digest, size }) => ({ uri: file, digest, size }));
  return { uri, frontmatter: { ...frontmatter }, resources, ...trustMeta(skill) };
}

function toResource({ uri, frontmatter, files, skill }: SkillEntry): Resource {
  const { name, description } = frontmatter;
  const size = files.find((file) => file.uri === uri)?.size ?? 0;
  return { uri, name, description, mimeType: "text/markdown", size, ...trustMeta(skill) };
}

/** Only what the entry promised: a file that has changed since is none of it. */
function readFile({ uri, digest, mediaType, read }: EntryFile): SkillReadResult {
  const bytes = read();
  if (digestBytes(bytes) !== digest) {
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${uri} has just been changed; ask for the skill's entry again.`,
    );
  }
  if (!isText(bytes)) return { bytes, mimeType: mediaType };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return { text, mimeType: mediaType === UNKNOWN_TYPE ? "text/plain" : mediaType };
}

const UNKNOWN_TYPE = "application/octet-stream";

/** `undefined` when there is no such folder. Sorted by URI. */
function childrenOf({ folder, files }: SkillEntry, uri: string): readonly Resource[] | undefined {
  if (uri !== folder && !uri.startsWith(`${folder}/`)) return undefined;
  const children = new Map<string, Resource>();
  for (const file of files) {
    if (!file.uri.startsWith(`${uri}/`)) continue;
    const [segment = "", ...below] = file.uri.slice(uri.length + 1).split("/");
    const child = `${uri}/${segment}`;
    const name = decodeURIComponent(segment);
    children.set(
      child,
      below.length > 0
        ? { uri: child, name, mimeType: DIRECTORY_MIME_TYPE }
        : { uri: child, name, mimeType: file.mediaType, size: file.size },
    );
  }
  if (children.size === 0) return undefined;
  return [...children.values()].sort((a, b) => compareText(a.uri, b.uri));
}

export interface Entries {
  /** Of those of these skills that have one, in the same order. */
  of(skills: readonly Skill[]): Promise<readonly SkillEntry[]>;
  /** The one that a URI lies in, whatever it names there. */
  at(uri: string): Promise<SkillEntry | undefined>;
}

/** Clients are told that they may keep a list for ten times as long, and use and reading ask anew whatever a list says. */
const LISTED_MS = 1000;

/** `isWatched`: whether a change of a skill is heard of, and makes a new catalog. */
export function createEntries(
  metier: Metier,
  library: SkillLibrary,
  report: (diagnostic: Diagnostic) => void,
  isWatched: () => boolean,
): Entries {
  const listed = rememberLists(metier);
  let catalog: Catalog | undefined;
  let known = new Map<string, { readonly stamps: string; readonly entry: EntryResult }>();
  const look = async (skill: Skill): Promise<EntryResult> => {
    if (skill.remote) return refused("it comes from an MCP server itself, and is not passed on");
    const held = await library.whyHeld?.(skill);
    if (held !== undefined) return refused(held);
    if (catalog !== metier.catalog) known = new Map();
    catalog = metier.catalog;
    const stamps = stampsOf(skill);
    const before = known.get(skill.name);
    if (stamps !== undefined && before?.stamps === stamps) return before.entry;
    const entry = await readEntry(metier, skill);
    if (stamps !== undefined) known.set(skill.name, { stamps, entry });
    return entry;
  };
  const entryOf = async (skill: Skill): Promise<SkillEntry | undefined> => {
    const entry = await look(skill);
    if (entry.ok) return entry.value;
    report(notServed(skill, entry.refusal));
    return undefined;
  };
  return {
    async of(skills) {
      const before = isWatched() ? listed.recall(skills) : undefined;
      if (before) return before;
      const keep = listed.begin(skills);
      const entries: SkillEntry[] = [];
      for (const skill of skills) {
        const entry = await entryOf(skill);
        if (entry) entries.push(entry);
      }
      keep(entries);
      return entries;
    },
    async at(uri) {
      const name = skillNameIn(uri);
      const skill = library.skills().find((candidate) => candidate.name === name);
      return skill && entryOf(skill);
    },
  };
}

interface KeptList {
  readonly catalog: Catalog;
  readonly until: number;
  readonly entries: readonly SkillEntry[];
}

/** Pages of lists, by the names in them. */
function rememberLists(metier: Metier) {
  let kept = new Map<string, KeptList>();
  const keyOf = (skills: readonly Skill[]): string => skills.map(({ name }) => name).join("\0");
  return {
    recall(skills: readonly Skill[]): readonly SkillEntry[] | undefined {
      const found = kept.get(keyOf(skills));
      const isGood = found?.catalog === metier.catalog && performance.now() < (found?.until ?? 0);
      return isGood ? found?.entries : undefined;
    },
    /** Counted from before anything is looked at. */
    begin(skills: readonly Skill[]): (entries: readonly SkillEntry[]) => void {
      const { catalog } = metier;
      const until = performance.now() + LISTED_MS;
      return (entries) => {
        if (kept.size >= MOST_LISTS) kept = new Map();
        kept.set(keyOf(skills), { catalog, until, entries });
      };
    },
  };
}

const MOST_LISTS = 20;

/** `undefined` for a skill whose content cannot be told by stamps. */
function stampsOf(skill: Skill): string | undefined {
  if (!hasFolder(skill)) return undefined;
  const listing = listContent(skill);
  if (!listing.ok) return undefined;
  try {
    return listing.value
      .map(({ path, file }) => `${path}\0${stampOf(lstatSync(file, { bigint: true }))}`)
      .join("\n");
  } catch {
    return undefined; // A file has just gone: the skill is read anew.
  }
}

function notServed({ name, location }: Skill, reason: string): Diagnostic {
  return {
    code: "mcp.not-served",
    severity: "warning",
    path: location || name,
    message: `Skill \`${name}\` is left out of \`skills/list\`: ${reason.replace(/\.$/, "")}.`,
    hint: "`metier validate --strict` says what other clients expect of a skill; the tools serve it all the same if it can be used.",
  };
}
