/**
 * Tier 2: a skill's instructions, read and checked anew on every use; the catalog and its index are never asked for
 * text. Throws for a skill that can no longer be used as the one the catalog knows.
 */
import { basename } from "node:path";
import { MAX_SKILL_BYTES } from "../catalog/read-skill.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { SkillLoadError, SkillResourceError, SkillValidationError } from "../foundation/errors.ts";
import { type ContainedFile, openContained, withContained } from "../host/open-contained.ts";
import { realPathOr } from "../host/project-folders.ts";
import { type BoundedRead, readBounded } from "../host/read-bounded.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import { withAlias } from "../skill/alias.ts";
import type { Json, SkillManifest } from "../skill/manifest.ts";
import type { ParsedSkill, Skill } from "../skill/skill.ts";
import { candidateForFile } from "../sources/candidate.ts";
import { digestBytes } from "../trust/identify-file.ts";
import type { Profile } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import { type CleanText, cleanText } from "./clean-text.ts";
import { type FolderAccess, hasFolder, realRoots, requireSkillFolder } from "./skill-folder.ts";
import { tellOrigin } from "./tell-origin.ts";

export interface ReadInstructionsOptions extends FolderAccess {
  /** The whole file with its frontmatter instead of the body. A skill given as an object has only a body. */
  readonly whole?: boolean;
  readonly profile?: Profile;
  /** The body of a skill that was given as an object. */
  bodyOf?(skill: Skill): string | undefined;
}

export interface Instructions {
  readonly name: string;
  /** The body, or the whole file; without characters that cannot be seen, line ends as `\n`. */
  readonly text: string;
  /** `sha256:…` of the text: tells a repeated activation from a changed one. */
  readonly digest: string;
  /** Whose they are, where they are not of this machine. */
  readonly origin?: string;
  /** As the file states it now. */
  readonly manifest: SkillManifest;
  /** The fields as the file writes them; absent for a skill given as an object. */
  readonly frontmatter?: Readonly<Record<string, Json>>;
  /** What is worth knowing about the file now, such as a body that is very long. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws `SkillResourceError`, `SkillLoadError` or `SkillValidationError`. */
export async function readInstructions(
  skill: Skill,
  options: ReadInstructionsOptions = {},
): Promise<Instructions> {
  if (skill.location === "") return instructionsOfObject(skill, options);
  const { whole = false, profile = "standard" } = options;
  const { text } = readSkillFile(skill, options);
  const candidate = candidateForFile(skill.location, skill.form);
  const parsed = await parseSkill(candidate, text);
  const { manifest: written, diagnostics } = validateSkill(parsed, profile);
  if (written === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    throw new SkillValidationError(skill.name, errors, skill.location);
  }
  const manifest = nameHere(written, skill);
  if (manifest.name !== skill.name) {
    const renamed = `it is called \`${manifest.name}\` now`;
    const hint = "Load the catalog again.";
    throw new SkillValidationError(skill.name, [renamed], skill.location, { hint });
  }
  return assemble(skill, whole ? text : parsed.body, manifest, diagnostics, parsed.frontmatter);
}

/** By the name it has here: a lock may give another, and one of an MCP server always has its own. */
function nameHere(written: SkillManifest, { name, locked, remote }: Skill): SkillManifest {
  return remote ? { ...written, name } : withAlias(written, locked?.alias);
}

function instructionsOfObject(skill: Skill, { bodyOf }: ReadInstructionsOptions): Instructions {
  const body = bodyOf?.(skill);
  if (body === undefined) {
    throw new SkillLoadError(skill.name, "(given as an object)", "nothing gives its instructions.", {
      hint: "Pass `bodyOf`.",
    });
  }
  return assemble(skill, body, skill.manifest, skill.diagnostics);
}

function assemble(
  { name, location, remote }: Skill,
  written: string,
  manifest: SkillManifest,
  found: readonly Diagnostic[],
  frontmatter?: ParsedSkill["frontmatter"],
): Instructions {
  const { text, removed } = cleanText(written);
  const path = location || `integration:${name}`;
  const diagnostics = removed ? [...found, reportRemoved(path, removed)] : found;
  const digest = digestBytes(text);
  return {
    name,
    text,
    digest,
    ...(remote && { origin: tellOrigin(remote) }),
    manifest,
    diagnostics,
    ...(frontmatter && { frontmatter }),
  };
}

function reportRemoved(path: string, { count, example }: NonNullable<CleanText["removed"]>): Diagnostic {
  const what =
    count === 1
      ? `1 character that cannot be seen (${example}) was`
      : `${count} characters that cannot be seen (${example} first) were`;
  return {
    code: "disclosure.text-removed",
    severity: "warning",
    path,
    message: `${what} removed from the instructions.`,
    hint: "Look at the file in an editor that shows invisible characters, and delete them.",
  };
}

type ReadText = BoundedRead & { readonly ok: true };

/** Through the path gate, and from the file that passed it. */
function readSkillFile(skill: Skill, access: FolderAccess): ReadText {
  const folder = hasFolder(skill) ? requireSkillFolder(skill, access) : realPathOr(skill.directory);
  const opened = openContained(folder, basename(skill.location), realRoots(skill, access));
  const read = withContained(opened, (file) => readOpened(skill, file));
  if (read.ok) return read;
  throw new SkillResourceError(skill.name, skill.location, read.reason, read.message, {
    hint: "Load the catalog again; `metier validate` says what is wrong with a skill file.",
  });
}

function readOpened(skill: Skill, { realPath, stats }: ContainedFile): ReadText {
  const read = readBounded(realPath, MAX_SKILL_BYTES);
  if (!read.ok) throw new SkillLoadError(skill.name, skill.location, read.message);
  // The gate holds its file open, so no other one can have this number.
  if (read.stats.ino !== stats.ino || read.stats.dev !== stats.dev) {
    throw new SkillLoadError(skill.name, skill.location, "it was replaced while it was read.");
  }
  return read;
}
