/**
 * A skill as the Skills extension serves it: its frontmatter as written, and every file with digest and size. One that a
 * client would have to refuse, or that cannot be told whole, is not served; the reason says why.
 */
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SKILL_LIMITS, SkillCatalogError, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { mediaTypeByName } from "../disclose/media-type.ts";
import type { Instructions } from "../disclose/read-instructions.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { skillFields, writeFields, writeSkillText } from "../disclose/write-skill-text.ts";
import { compareText } from "../foundation/diagnostic.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";
import { identifyContent } from "../trust/content-identity.ts";
import { digestBytes } from "../trust/identify-file.ts";
import { SKILL_FILE, skillFolder, skillUri } from "./skill-uri.ts";

export interface ServedFile {
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

export interface ServedSkill {
  readonly skill: Skill;
  /** Of `SKILL.md`. */
  readonly uri: string;
  /** Of the folder. */
  readonly folder: string;
  readonly frontmatter: Frontmatter;
  /** All of them, sorted by URI. */
  readonly files: readonly ServedFile[];
}

export type Frontmatter = Readonly<Record<string, Json>> & {
  readonly name: string;
  readonly description: string;
};

export type ServedOutcome =
  | { readonly ok: true; readonly served: ServedSkill }
  | { readonly ok: false; readonly reason: string };

/** Reads and hashes the skill as it is now. */
export async function serveSkill(metier: Metier, skill: Skill): Promise<ServedOutcome> {
  const instructions = await metier.getInstructions(skill.name);
  const content = hasFolder(skill) ? readFolder(metier, skill) : writeFile(instructions);
  if ("reason" in content) return { ok: false, reason: content.reason };
  const frontmatter = hasFolder(skill) ? (instructions.frontmatter ?? {}) : skillFields(instructions);
  const stated = frontmatter.name;
  if (typeof stated !== "string") return { ok: false, reason: "its frontmatter states no name" };
  const segments = skillFolder(skill.name, stated);
  const files = content.files
    .map(({ path, ...file }) => ({ ...file, path, uri: skillUri([...segments, ...path.split("/")]) }))
    .sort((a, b) => compareText(a.uri, b.uri));
  const problem = await findProblem(segments, content.manifest, instructions, frontmatter);
  if (problem !== undefined) return { ok: false, reason: problem };
  return {
    ok: true,
    served: {
      skill,
      uri: skillUri([...segments, SKILL_FILE]),
      folder: skillUri(segments),
      frontmatter: frontmatter as Frontmatter, // A client's own reader has just agreed.
      files,
    },
  };
}

interface Content {
  readonly files: readonly Omit<ServedFile, "uri">[];
  /** The bytes of `SKILL.md`. */
  readonly manifest: Uint8Array;
}

/** As it lies there: the files and digests of the content identity. */
function readFolder(metier: Metier, skill: Skill): Content | { readonly reason: string } {
  const outcome = identifyContent(skill, { entries: MOST_ENTRIES, bytes: SKILL_LIMITS.bytes });
  if (!outcome.ok) {
    const { path, message } = outcome.diagnostic;
    return { reason: `\`${path}\`: ${message} At most ${SKILL_LIMITS.bytes} bytes are served` };
  }
  const { files } = outcome.identity;
  if (files.length > SKILL_LIMITS.files) {
    return { reason: `it has ${files.length} files; at most ${SKILL_LIMITS.files} are served` };
  }
  const link = files.find(({ kind }) => kind === "link");
  if (link) return { reason: `\`${link.path}\` is a link; only files are served` };
  const skillFile = basename(skill.location);
  const read = (path: string) => (): Uint8Array =>
    metier.readResource(skill.name, path, { as: "bytes", maxBytes: SKILL_LIMITS.bytes }).bytes ?? NOTHING;
  return {
    files: files.map(({ path, digest, size }) => ({
      path: path === skillFile ? SKILL_FILE : path,
      digest,
      size,
      mediaType: path === skillFile ? "text/markdown" : (mediaTypeByName(path) ?? "application/octet-stream"),
      read: read(path),
    })),
    manifest: read(skillFile)(),
  };
}

const NOTHING = new Uint8Array();
/** Files and folders. */
const MOST_ENTRIES = 4 * SKILL_LIMITS.files;

/** A skill without a folder of its own, such as one file among others or an object, becomes one file. */
function writeFile(instructions: Instructions): Content {
  const manifest = Buffer.from(writeSkillText(instructions));
  const file = {
    path: SKILL_FILE,
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
    if (isDeepStrictEqual(read.frontmatter, frontmatter)) return undefined;
    return "its frontmatter is written so that other clients read something else";
  }
  const isRepaired = instructions.diagnostics.some(({ code }) => REPAIRED.test(code));
  if (isRepaired) return read.problem;
  // The SDK reads a part of YAML only, other clients all of it: then what the file says counts, not how.
  const plain = await readAsClient(segments, Buffer.from(writeFields(frontmatter)));
  return plain.ok ? undefined : plain.problem;
}

/** What cannot be read as it is written. */
const REPAIRED = /^(?:yaml|frontmatter|text)\./;

type ClientReading =
  | { readonly ok: true; readonly frontmatter: unknown }
  | { readonly ok: false; readonly problem: string };

async function readAsClient(segments: readonly string[], manifest: Uint8Array): Promise<ClientReading> {
  try {
    const { frontmatter } = await skillEntry(segments.join("/"), { [SKILL_FILE]: manifest });
    return { ok: true, frontmatter };
  } catch (error) {
    if (!(error instanceof SkillCatalogError)) throw error;
    return { ok: false, problem: error.problems.map(({ message }) => message).join("; ") };
  }
}
