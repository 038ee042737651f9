/** A skill's files for viewers: the list, and the text of one, through the path gate of base. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { SkillResourceError } from "@metier/base/errors";
import { type BoundedRead, readBounded } from "@metier/base/files";
import {
  listResources,
  MAX_SKILL_BYTES,
  type ResourceContent,
  type ResourceKind,
  readResource,
} from "@metier/skills";
import type { ApiFileText, ApiSkillFile } from "../api.ts";
import { MOST_FILES, MOST_TEXT_BYTES } from "./bounds.ts";
import type { KnownSkill } from "./know-skills.ts";

/** `roots`: the skills directories in use, into which links may lead. */
export function listSkillFiles(known: KnownSkill, roots: readonly string[]): readonly ApiSkillFile[] {
  const own = statSync(known.location, { throwIfNoEntry: false });
  const instructions = { path: basename(known.location), size: own?.size ?? 0, kind: "instructions" };
  const listing = tolerate(() => listResources(withOrigin(known), { roots }));
  const others = (listing?.resources ?? []).slice(0, MOST_FILES).map(({ path, size, kind }) => {
    return { path, size, kind: kindOf(path, kind) };
  });
  return known.location === "" ? others : [instructions, ...others];
}

const KINDS: Readonly<Record<ResourceKind, string>> = {
  scripts: "script",
  references: "reference",
  assets: "asset",
  other: "other",
};

function kindOf(path: string, kind: ResourceKind): string {
  if (path.startsWith("evals/")) return "eval";
  return path.startsWith("tests/") ? "test" : KINDS[kind];
}

/** `undefined`: there is none, or nobody may read it. */
export function readSkillFile(
  known: KnownSkill,
  path: string,
  roots: readonly string[],
): ApiFileText | undefined {
  if (known.location !== "" && path === basename(known.location)) {
    return showWhole(path, readBounded(known.location, MAX_SKILL_BYTES));
  }
  const range = { start: 0, end: MOST_TEXT_BYTES };
  const read = tolerate(() =>
    readResource(withOrigin(known), path, { roots, range, maxBytes: MOST_TEXT_BYTES }),
  );
  return read && showRange(path, read);
}

/** Such as a skill of an MCP server, whose files are fetched on use. */
function withOrigin(known: KnownSkill): Parameters<typeof listResources>[0] {
  const { name, form, location, directory, root, skill } = known;
  return { name, form, location, directory, root, ...(skill?.remote && { remote: skill.remote }) };
}

function showRange(path: string, { text, size }: ResourceContent): ApiFileText {
  const isCut = size > MOST_TEXT_BYTES;
  return { path, size, ...(text !== undefined && { text }), isCut: isCut && text !== undefined };
}

/** Of a text that was read as a whole: its beginning. */
function showWhole(path: string, read: BoundedRead): ApiFileText | undefined {
  if (!read.ok) return read.reason === "too-large" ? { path, size: read.size ?? 0, isCut: true } : undefined;
  const isText = !read.text.includes("\0");
  const text = read.text.slice(0, MOST_TEXT_BYTES).toWellFormed();
  return { path, size: read.size, ...(isText && { text }), isCut: isText && text.length < read.text.length };
}

/** A file or folder that is gone, or leads out of its folder, is none. */
function tolerate<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof SkillResourceError) return undefined;
    throw fault;
  }
}
