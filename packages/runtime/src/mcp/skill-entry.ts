/**
 * The entry of a skill in the Skills extension: its frontmatter as written, and every file with URI, digest and size. A
 * skill that a client would have to refuse, or that cannot be told whole, has none. What a client asks for is only ever
 * compared with these URIs (`skill://<name>/<path>`), never taken apart into a path.
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
  /** Below the skill's folder; the skill file is `SKILL.md` whatever it is called on disk. */
  readonly path: string;
  /** `sha256:…` */
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
  /** As it is now, which may be something else than the digest says. Throws `SkillResourceError`. */
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
  /** Whether its use gives text that comes from its folder, the catalog and the request alone, whatever else is on the machine. */
  readonly isPlain: boolean;
}

type Frontmatter = Readonly<Record<string, Json>> & {
  readonly name: string;
  readonly description: string;
};

/** Why a skill has no entry is said in a few words. */
export type EntryResult = Result<SkillEntry, string>;

/** Reads and hashes the skill as it is now. One that cannot be read has no entry, which keeps none of the others from theirs. */
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
  if (typeof stated !== "string") return refused("its frontmatter states no name");
  // The last one must be the name that the file states, which is another than here for a skill with an alias.
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
    frontmatter: frontmatter as Frontmatter, // A client's own reader has just agreed.
    files,
    isPlain: isPlain(metier, instructions),
  });
}

/** Nothing runs, and nothing of the machine is asked for. */
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

/** As it lies there: the files and digests of the content identity. */
function readFolder(metier: Metier, skill: Skill): Result<Content, string> {
  const outcome = identifyContent(skill, { entries: MOST_ENTRIES, bytes: SKILL_LIMITS.bytes });
  if (!outcome.ok) {
    const { path, message } = outcome.refusal;
    return refused(`\`${path}\`: ${message} At most ${SKILL_LIMITS.bytes} bytes are served`);
  }
  const { files } = outcome.value;
  if (files.length > SKILL_LIMITS.files) {
    return refused(`it has ${files.length} files; at most ${SKILL_LIMITS.files} are served`);
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

/** A skill without a folder of its own, such as one file among others or an object, becomes one file. */
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

/** A client reads the file and compares: whatever it cannot read, or reads otherwise, it has to refuse. */
async function findProblem(
  segments: readonly string[],
  manifest: Uint8Array,
  instructions: Instructions,
  frontmatter: Readonly<Record<string, Json>>,
): Promise<string | undefined> {
  const read = await readAsClient(segments, manifest);
  if (read.ok) {
    if (isDeepStrictEqual(read.value, frontmatter)) return undefined;
    return "its frontmatter is written so that other clients read something else";
  }
  const isRepaired = instructions.diagnostics.some(({ code }) => REPAIRED.test(code));
  if (isRepaired) return read.refusal;
  // The SDK reads a part of YAML only, other clients all of it: then what the file says counts, not how.
  const plain = await readAsClient(segments, Buffer.from(writeFields(frontmatter)));
  return plain.ok ? undefined : plain.refusal;
}

/** What cannot be read as it is written. */
const REPAIRED = /^(?:yaml|frontmatter|text)\./;

/** The frontmatter, or what keeps a client from reading it. */
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

/** What the skill's own file is called, whatever its name on disk. */
const ENTRY_FILE = "SKILL.md";

function skillUri(segments: readonly string[]): string {
  return `${SKILL_SCHEME}${segments.map(encodeURIComponent).join("/")}`;
}

/** The one spelling of a URI; `undefined` for what is none. */
export function canonicalUri(uri: string): string | undefined {
  return URL.parse(uri)?.href;
}

/** The name of the skill that a URI lies in, whether there is such a skill or not. */
export function skillNameIn(uri: string): string | undefined {
  const canonical = canonicalUri(uri);
  return canonical?.startsWith(SKILL_SCHEME) ? canonical.slice(SKILL_SCHEME.length).split("/")[0] : undefined;
}
