/** What the SDK's Skills extension asks, answered from the served skills: pages, entries, files and folders. */
import { ProtocolError, ProtocolErrorCode, type Resource, type Server } from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  type Skill as SkillEntry,
  type SkillReadResult,
  type SkillSource,
} from "@modelcontextprotocol/server/ext/skills";
import type { Conversation } from "../disclose/conversation.ts";
import { isText } from "../disclose/media-type.ts";
import { compareText } from "../foundation/diagnostic.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import { digestBytes } from "../trust/identify-file.ts";
import { noteGiven } from "./mcp-conversation.ts";
import { pageOf, pageResult } from "./page.ts";
import type { ServedFile, ServedSkill } from "./served-skill.ts";
import type { ServedSkills } from "./served-skills.ts";
import { canonicalUri } from "./skill-uri.ts";
import { trustMeta } from "./trust-mark.ts";

export function createSkillSource(
  library: SkillLibrary,
  served: ServedSkills,
  conversation: Conversation,
): SkillSource {
  return {
    async list({ cursor }) {
      const { items, ...rest } = pageOf(library.skills(), ({ name }) => name, cursor);
      return pageResult("skills", { items: (await served.serve(items)).map(toEntry), ...rest });
    },
    async get(uri) {
      const found = await served.find(uri);
      return found && found.uri === canonicalUri(uri) ? toEntry(found) : undefined;
    },
    async read(uri) {
      const found = await served.find(uri);
      const file = found?.files.find((candidate) => candidate.uri === canonicalUri(uri));
      if (!found || !file) return undefined;
      const content = readFile(file);
      noteGiven(conversation, found.skill.name, file.digest);
      return content;
    },
    async readDirectory(uri, { cursor }) {
      const found = await served.find(uri);
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
export function answerResourceList(server: Server, library: SkillLibrary, served: ServedSkills): void {
  server.setRequestHandler("resources/list", async ({ params }) => {
    const { items, ...rest } = pageOf(library.skills(), ({ name }) => name, params?.cursor);
    return pageResult("resources", { items: (await served.serve(items)).map(toResource), ...rest });
  });
}

function toEntry({ uri, frontmatter, files, skill }: ServedSkill): SkillEntry {
  const resources = files.map(({ uri: file, digest, size }) => ({ uri: file, digest, size }));
  return { uri, frontmatter: { ...frontmatter }, resources, ...trustMeta(skill) };
}

function toResource({ uri, frontmatter, files, skill }: ServedSkill): Resource {
  const { name, description } = frontmatter;
  const size = files.find((file) => file.uri === uri)?.size ?? 0;
  return { uri, name, description, mimeType: "text/markdown", size, ...trustMeta(skill) };
}

/** Only what the entry promised: a file that has changed since is none of it. */
function readFile({ uri, digest, mediaType, read }: ServedFile): SkillReadResult {
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
function childrenOf({ folder, files }: ServedSkill, uri: string): readonly Resource[] | undefined {
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
