/**
 * A skill's entry in the Skills extension: its frontmatter as written, and every file with URI, digest and size. A
 * skill that a client would have to refuse, or that can't be listed in full, has none. What a client requests is only
 * compared with these URIs (`skill://<name>/<path>`), never parsed into a path.
 */
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { digestBytes } from "@metier/base/digest";
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import { chooseExecution } from "@metier/run";
import {
  findCommands,
  hasFolder,
  type Instructions,
  mediaTypeByName,
  type Skill,
  skillFields,
  writeFields,
  writeSkillText,
} from "@metier/skills";
import { identifyContent } from "@metier/skills/trust";
import { SKILL_LIMITS, SkillCatalogError, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import type { Metier } from "../runtime/create-metier.ts";

export interface EntryFile {
  readonly uri: string;
  /** Relative to the skill's folder; the skill file is `SKILL.md`, whatever its name on disk. */
  readonly path: string;
  /** `sha256:…` */
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
  /** Its current content, which may no longer match the digest. Throws `SkillResourceError`. */
  read(): Uint8Array;
}

export interface SkillEntry {
  readonly skill: Skill;
  /** Of `SKILL.md`. */
  readonly uri: string;
  /** Of the folder. */
  readonly folder: string;
  readonly frontmatter: Frontmatter;
  /** All of them, sorted by URI. */
  readonly files: readonly EntryFile[];
  /** Whether using it returns text that depends only on its folder, the catalog and the request. */
  readonly isPlain: boolean;
}

type Frontmatter = Readonly<Record<string, Json>> & {
  readonly name: string;
  readonly description: string;
};

/** The refusal says in a few words why a skill has no entry. */
export type EntryResult = Result<SkillEntry, string>;

/** Reads and hashes the skill as it is now. A skill that can't be read has no entry and doesn't affect the others. */
export async function readEntry(metier: Metier, skill: Skill): Promise<EntryResult> {
  try {
    return await makeEntry(metier, skill);
  } catch (error) {
    return refused((error as Error).message);
  }
}

async function makeEntry(metier: Metier, skill: Skill): Promise<EntryResult> {
  const instructions = await metier.getInstructions(skill.name);
  const content = hasFolder(skill) ? readFolder(metier, skill) : done(writeFile(instructions));
  if (!content.ok) return content;
  const frontmatter = hasFolder(skill) ? (instructions.frontmatter ?? {}) : skillFields(instructions);
  const stated = frontmatter.name;
  if (typeof stated !== "string") return refused("its frontmatter has no name");
  // The last segment must be the name in the file, which differs from the name here if the skill has an alias.
  const segments = skill.name === stated ? [stated] : [skill.name, stated];
  const files = content.value.files
    .map(({ path, ...file }) => ({ ...file, path, uri: skillUri([...segments, ...path.split("/")]) }))
    .sort((a, b) => compareText(a.uri, b.uri));
  const problem = await findProblem(segments, content.value.manifest, instructions, frontmatter);
  if (problem !== undefined) return refused(problem);
  return done({
    skill,
    uri: skillUri([...segments, ENTRY_FILE]),
    folder: skillUri(segments),
    frontmatter: frontmatter as Frontmatter, // A client's own parser just accepted it.
    files,
    isPlain: isPlain(metier, instructions),
  });
}

/** Nothing runs, and nothing on the machine is consulted. */
function isPlain({ config: { config } }: Metier, { text, manifest }: Instructions): boolean {
  const { bins, anyBins, env } = manifest.requires;
  return (
    chooseExecution(manifest, { configured: config.skills.defaultExecution }) === "inline" &&
    [bins, anyBins, env, manifest.requiredTools].every(({ length }) => length === 0) &&
    findCommands(text).every(({ kind }) => kind === "text")
  );
}

interface Content {
  readonly files: readonly Omit<EntryFile, "uri">[];
  /** The bytes of `SKILL.md`. */
  readonly manifest: Uint8Array;
}

/** As it is on disk: the files and digests of the content identity. */
function readFolder(metier: Metier, skill: Skill): Result<Content, string> {
  const outcome = identifyContent(skill, { entries: MOST_ENTRIES, bytes: SKILL_LIMITS.bytes });
  if (!outcome.ok) {
    const { path, message } = outcome.refusal;
    return refused(`\`${path}\`: ${message} The limit is ${SKILL_LIMITS.bytes} bytes`);
  }
  const { files } = outcome.value;
  if (files.length > SKILL_LIMITS.files) {
    return refused(`it has ${files.length} files; the limit is ${SKILL_LIMITS.files}`);
  }
  const link = files.find(({ kind }) => kind === "link");
  if (link) return refused(`\`${link.path}\` is a link; only files are served`);
  const skillFile = basename(skill.location);
  const read = (path: string) => (): Uint8Array =>
    metier.readResource(skill.name, path, { as: "bytes", maxBytes: SKILL_LIMITS.bytes }).bytes ??
    new Uint8Array();
  return done({
    files: files.map(({ path, digest, size }) => ({
      path: path === skillFile ? ENTRY_FILE : path,
      digest,
      size,
      mediaType: path === skillFile ? "text/markdown" : (mediaTypeByName(path) ?? "application/octet-stream"),
      read: read(path),
    })),
    manifest: read(skillFile)(),
  });
}

/** Files and folders. */
const MOST_ENTRIES = 4 * SKILL_LIMITS.files;

/** A skill without its own folder, such as a single file or an object, becomes one file. */
function writeFile(instructions: Instructions): Content {
  const manifest = Buffer.from(writeSkillText(instructions));
  const file = {
    path: ENTRY_FILE,
    digest: digestBytes(manifest),
    size: manifest.length,
    mediaType: "text/markdown",
    read: () => manifest,
  };
  return { files: [file], manifest };
}

/** A client reads the file and compares: it must refuse anything it can't read or reads differently. */
async function findProblem(
  segments: readonly string[],
  manifest: Uint8Array,
  instructions: Instructions,
  frontmatter: Readonly<Record<string, Json>>,
): Promise<string | undefined> {
  const read = await readAsClient(segments, manifest);
  if (read.ok) {
    if (isDeepStrictEqual(read.value, frontmatter)) return undefined;
    return "other clients would read its frontmatter differently";
  }
  const isRepaired = instructions.diagnostics.some(({ code }) => REPAIRED.test(code));
  if (isRepaired) return read.refusal;
  // The SDK reads only a part of YAML, other clients all of it: then the meaning counts, not the spelling.
  const plain = await readAsClient(segments, Buffer.from(writeFields(frontmatter)));
  return plain.ok ? undefined : plain.refusal;
}

/** What can't be read as written. */
const REPAIRED = /^(?:yaml|frontmatter|text)\./;

/** The frontmatter, or what prevents a client from reading it. */
async function readAsClient(
  segments: readonly string[],
  manifest: Uint8Array,
): Promise<Result<unknown, string>> {
  try {
    const { frontmatter } = await skillEntry(segments.join("/"), { [ENTRY_FILE]: manifest });
    return done(frontmatter);
  } catch (error) {
    if (!(error instanceof SkillCatalogError)) throw error;
    return refused(error.problems.map(({ message }) => message).join("; "));
  }
}

const SKILL_SCHEME = "skill://";

/** The name of the skill's own file, whatever it is on disk. */
const ENTRY_FILE = "SKILL.md";

function skillUri(segments: readonly string[]): string {
  return `${SKILL_SCHEME}${segments.map(encodeURIComponent).join("/")}`;
}

/** The canonical spelling of a URI; `undefined` if it isn't one. */
export function canonicalUri(uri: string): string | undefined {
  return URL.parse(uri)?.href;
}

/** The name of the skill that a URI is in, whether or not the skill exists. */
export function skillNameIn(uri: string): string | undefined {
  const canonical = canonicalUri(uri);
  return canonical?.startsWith(SKILL_SCHEME) ? canonical.slice(SKILL_SCHEME.length).split("/")[0] : undefined;
}
