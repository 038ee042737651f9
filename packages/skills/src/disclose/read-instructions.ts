/**
 * Tier 2: a skill's instructions, read and checked again on every use; text never comes from the catalog or its index.
 * Throws for a skill that is no longer the one in the catalog.
 */

import { basename } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { SkillLoadError, SkillResourceError, SkillValidationError } from "@metier/base/errors";
import { type ContainedFile, openContained, readBounded, withContained } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { realPathOr } from "@metier/base/places";
import { type CleanText, cleanText, forReader } from "@metier/base/text";
import { MAX_SKILL_BYTES } from "../catalog/read-root.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import { writeFields } from "../parse/write-fields.ts";
import { type SkillManifest, withAlias } from "../skill/manifest.ts";
import type { ParsedSkill, Skill } from "../skill/skill.ts";
import { candidateForFile } from "../sources/skill-files.ts";
import type { Profile } from "../validate/profiles.ts";
import { skillFault } from "../validate/skill-fault.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import { tellOrigin } from "./listing.ts";
import { type FolderAccess, hasFolder, realRoots, requireSkillFolder } from "./resources.ts";

export interface ReadInstructionsOptions extends FolderAccess {
  /** Returns the whole file with its frontmatter instead of the body. A skill defined in code has only a body. */
  readonly whole?: boolean;
  /** How strictly to read the file. Default: `standard`. */
  readonly profile?: Profile | undefined;
  /** The body of a skill defined in code. */
  readonly bodyOf?: ((skill: Skill) => string | undefined) | undefined;
}

/** A skill's instructions, just read from its file. */
export interface Instructions {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** The body, or the whole file; without invisible characters, with `\n` line breaks. */
  readonly text: string;
  /** `sha256:…` of the text: tells a repeated activation from a changed one. */
  readonly digest: string;
  /** Whose they are, if they are not local. */
  readonly origin?: string | undefined;
  /** As the file states it now. */
  readonly manifest: SkillManifest;
  /** The fields as written in the file; absent for a skill defined in code. */
  readonly frontmatter?: Readonly<Record<string, Json>> | undefined;
  /** Notes about the file now, such as a very long body. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws `SkillResourceError`, `SkillLoadError`, `SkillParseError` or `SkillValidationError`. */
export async function readInstructions(
  skill: Skill,
  options: ReadInstructionsOptions = {},
): Promise<Instructions> {
  if (skill.location === "") return instructionsOfObject(skill, options);
  const { whole = false, profile = "standard" } = options;
  const text = readSkillFile(skill, options);
  const candidate = candidateForFile(skill.location, skill.form);
  const parsed = await parseSkill(candidate, text);
  const { manifest: written, diagnostics } = validateSkill(parsed, profile);
  if (written === undefined) {
    throw skillFault(skill.name, skill.location, diagnostics);
  }
  // By its name here: a lock may give another, and one from an MCP server always has its own.
  const { name, locked, remote } = skill;
  const manifest = remote ? { ...written, name } : withAlias(written, locked?.alias);
  if (manifest.name !== skill.name) {
    const renamed = `it is now named \`${manifest.name}\``;
    const hint = "Reload the catalog.";
    throw new SkillValidationError(skill.name, [renamed], skill.location, { hint });
  }
  return assemble(skill, whole ? text : parsed.body, manifest, diagnostics, parsed.frontmatter);
}

function instructionsOfObject(skill: Skill, { bodyOf }: ReadInstructionsOptions): Instructions {
  const body = bodyOf?.(skill);
  if (body === undefined) {
    throw new SkillLoadError(skill.name, "(given as an object)", "it has no source for its instructions.", {
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
  const origin = remote && tellOrigin(remote);
  return { name, text, digest: digestBytes(text), origin, manifest, diagnostics, frontmatter };
}

function reportRemoved(path: string, { count, example }: NonNullable<CleanText["removed"]>): Diagnostic {
  const what =
    count === 1
      ? `1 invisible character (${example}) was`
      : `${count} invisible characters (${example} first) were`;
  return {
    code: "disclosure.text-removed",
    severity: "warning",
    path,
    message: `${what} removed from the instructions.`,
    hint: "Open the file in an editor that shows invisible characters, and delete them.",
  };
}

/** Through the path gate, and from the file that passed it. */
function readSkillFile(skill: Skill, access: FolderAccess): string {
  const folder = hasFolder(skill) ? requireSkillFolder(skill, access) : realPathOr(skill.directory);
  const opened = openContained(folder, basename(skill.location), realRoots(skill, access));
  const read = withContained(opened, (file) => readOpened(skill, file));
  if (typeof read === "string") return read;
  throw new SkillResourceError(skill.name, skill.location, read.reason, read.message, {
    hint: forReader({
      command: "Reload the catalog; check the skill file with `metier validate`.",
      program: "Reload the catalog; check the skill file with `validate()`.",
    }),
  });
}

function readOpened(skill: Skill, { realPath, stats }: ContainedFile): string {
  const read = readBounded(realPath, MAX_SKILL_BYTES);
  if (!read.ok) throw new SkillLoadError(skill.name, skill.location, read.message);
  // The gate holds its file open, so no other file can have this inode.
  if (read.stats.ino !== stats.ino || read.stats.dev !== stats.dev) {
    throw new SkillLoadError(skill.name, skill.location, "it was replaced during reading.");
  }
  return read.text;
}

/** A skill that is not a Markdown file (YAML, or defined in code) as the text of a `SKILL.md`. */
export function writeSkillText(instructions: Instructions): string {
  return `${writeFields(skillFields(instructions))}\n${instructions.text}\n`;
}

/** The frontmatter of that text. */
export function skillFields({ name, manifest, frontmatter }: Instructions): Readonly<Record<string, Json>> {
  return { name, description: manifest.description, ...frontmatter };
}
