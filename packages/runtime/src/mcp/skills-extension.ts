/**
 * Answers the SDK's Skills extension from the entries of the skills the caller may use: pages, entries, files and
 * folders.
 */
import { digestBytes } from "@metier/base/digest";
import { compareText } from "@metier/base/text";
import type { SkillLibrary } from "@metier/run";
import { type Conversation, isText } from "@metier/skills";
import { ProtocolError, ProtocolErrorCode, type Resource, type Server } from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  type Skill as ListedSkill,
  type SkillReadResult,
  type SkillSource,
} from "@modelcontextprotocol/server/ext/skills";
import { noteGiven, pageOf, pageResult, trustMeta } from "./connection.ts";
import type { Entries } from "./entries.ts";
import { canonicalUri, type EntryFile, type SkillEntry } from "./skill-entry.ts";

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

/** `resources/list`: the skill files. The SDK would return all of them at once. */
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

/** Only what the entry declared: a file that has changed since isn't served. */
function readFile({ uri, digest, mediaType, read }: EntryFile): SkillReadResult {
  const bytes = read();
  if (digestBytes(bytes) !== digest) {
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${uri} has just changed; request the skill's entry again.`,
    );
  }
  if (!isText(bytes)) return { bytes, mimeType: mediaType };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return { text, mimeType: mediaType === UNKNOWN_TYPE ? "text/plain" : mediaType };
}

const UNKNOWN_TYPE = "application/octet-stream";

/** `undefined` if there is no such folder. Sorted by URI. */
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
