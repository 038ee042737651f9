/**
 * The skill index of a site at `/.well-known/agent-skills/index.json` (version 0.2.0: one file or archive per skill,
 * with its digest) or `/.well-known/skills/index.json` (version 0.1: a list of files, without digests).
 */
import { isDigest } from "@metier/base/digest";
import { checkContainedPath, showPath } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { isSkillName, SKILL_FILE } from "@metier/skills";
import { type JsonFields, parseJsonObject } from "../json-object.ts";

export interface SiteSkill {
  readonly name: string;
  readonly description: string;
  readonly content:
    | { readonly type: "skill-md" | "archive"; readonly url: string; readonly digest: string }
    | { readonly type: "files"; readonly files: readonly { readonly path: string; readonly url: string }[] };
}

export interface SiteIndex {
  readonly skills: readonly SiteSkill[];
  /** Why entries were left out, as sentences. */
  readonly faults: readonly string[];
}

export const DISCOVERY_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/** The maximum in one index. */
export const MAX_SKILLS = 1000;
const MAX_FILES = 1000;

/** `url`: the index's own; addresses in it may be relative to it. */
export function readSkillIndex(text: string, url: string): Result<SiteIndex> {
  const index = parseJsonObject(text);
  if (index === undefined || !Array.isArray(index.skills)) {
    return refused({ message: "It is not a JSON object with a `skills` list." });
  }
  const { $schema } = index;
  if ($schema !== undefined && $schema !== DISCOVERY_SCHEMA) {
    return refused({
      message: `Its schema is ${showPath(String($schema))}; only \`${DISCOVERY_SCHEMA}\` is supported.`,
    });
  }
  if (index.skills.length > MAX_SKILLS) {
    return refused({ message: `It lists ${index.skills.length} skills; the limit is ${MAX_SKILLS}.` });
  }
  const read = $schema === undefined ? readOldEntry : readEntry;
  const skills = new Map<string, SiteSkill>();
  const faults: string[] = [];
  for (const entry of index.skills as readonly unknown[]) {
    const skill = isJsonObject(entry) ? readCommon(entry, url, read) : "An entry is not an object.";
    if (typeof skill === "string") faults.push(skill);
    else if (skills.has(skill.name))
      faults.push(`\`${skill.name}\` is listed twice; the first entry is used.`);
    else skills.set(skill.name, skill);
  }
  return done({ skills: [...skills.values()], faults });
}

type ReadContent = (entry: JsonFields, name: string, url: string) => SiteSkill["content"] | string;

/** A sentence for an unusable entry. */
function readCommon(entry: JsonFields, url: string, read: ReadContent): SiteSkill | string {
  const { name, description } = entry;
  if (typeof name !== "string" || !isSkillName(name))
    return `${showPath(String(name))} is not a valid skill name.`;
  if (typeof description !== "string") return `\`${name}\` has no description.`;
  const content = read(entry, name, url);
  return typeof content === "string" ? content : { name, description, content };
}

const readEntry: ReadContent = ({ type, url: address, digest }, name, url) => {
  if (type !== "skill-md" && type !== "archive") {
    return `\`${name}\` has the type ${showPath(String(type))}; supported types are \`skill-md\` and \`archive\`.`;
  }
  if (!isDigest(digest)) {
    return `\`${name}\` has no \`sha256:…\` digest, so its content cannot be verified.`;
  }
  const resolved = typeof address === "string" ? resolveUrl(address, url) : undefined;
  return resolved === undefined ? `\`${name}\` has no URL.` : { type, url: resolved, digest };
};

const readOldEntry: ReadContent = ({ files }, name, url) => {
  if (!Array.isArray(files) || !files.includes(SKILL_FILE))
    return `\`${name}\` does not list a \`SKILL.md\`.`;
  if (files.length > MAX_FILES) return `\`${name}\` lists more than ${MAX_FILES} files.`;
  const list: { path: string; url: string }[] = [];
  for (const file of files as readonly unknown[]) {
    const checked = checkContainedPath(file);
    if (!checked.ok) return `\`${name}\` lists an invalid file: ${checked.message}`;
    const address = [name, ...checked.segments].map(encodeURIComponent).join("/");
    list.push({ path: checked.path, url: new URL(address, url).href });
  }
  return { type: "files", files: list };
};

/** Without a fragment; `undefined` if it is not a web address. */
function resolveUrl(address: string, base: string): string | undefined {
  const url = URL.parse(address, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.hash = "";
  return url.href;
}
