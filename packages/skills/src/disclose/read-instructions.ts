/**
 * Tier 2: a skill's instructions, read and checked anew on every use; the catalog and its index are never asked for
 * text. Throws for a skill that can no longer be used as the one the catalog knows.
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
  /** The whole file with its frontmatter instead of the body. A skill given as an object has only a body. */
  readonly whole?: boolean;
  /** How strict the file is read. Default: `standard`. */
  readonly profile?: Profile | undefined;
  /** The body of a skill that was given as an object. */
  readonly bodyOf?: ((skill: Skill) => string | undefined) | undefined;
}

/** A skill's instructions, read from its file at this moment. */
export interface Instructions {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** The body, or the whole file; without characters that cannot be seen, line ends as `\n`. */
  readonly text: string;
  /** `sha256:…` of the text: tells a repeated activation from a changed one. */
  readonly digest: string;
  /** Whose they are, where they are not of this machine. */
  readonly origin?: string | undefined;
  /** As the file states it now. */
  readonly manifest: SkillManifest;
  /** The fields as the file writes them; absent for a skill given as an object. */
  readonly frontmatter?: Readonly<Record<string, Json>> | undefined;
  /** What is worth knowing about the file now, such as a body that is very long. */
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
  // By the name it has here: a lock may give another, and one of an MCP server always has its own.
  const { name, locked, remote } = skill;
  const manifest = remote ? { ...written, name } : withAlias(written, locked?.alias);
  if (manifest.name !== skill.name) {
    const renamed = `it is called \`${manifest.name}\` now`;
    const hint = "Load the catalog again.";
    throw new SkillValidationError(skill.name, [renamed], skill.location, { hint });
  }
  return assemble(skill, whole ? text : parsed.body, manifest, diagnostics, parsed.frontmatter);
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
  const origin = remote && tellOrigin(remote);
  return { name, text, digest: digestBytes(text), origin, manifest, diagnostics, frontmatter };
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

/** Through the path gate, and from the file that passed it. */
function readSkillFile(skill: Skill, access: FolderAccess): string {
  const folder = hasFolder(skill) ? requireSkillFolder(skill, access) : realPathOr(skill.directory);
  const opened = openContained(folder, basename(skill.location), realRoots(skill, access));
  const read = withContained(opened, (file) => readOpened(skill, file));
  if (typeof read === "string") return read;
  throw new SkillResourceError(skill.name, skill.location, read.reason, read.message, {
    hint: forReader({
      command: "Load the catalog again; `metier validate` says what is wrong with a skill file.",
      program: "Load the catalog again; `validate()` says what is wrong with a skill file.",
    }),
  });
}

function readOpened(skill: Skill, { realPath, stats }: ContainedFile): string {
  const read = readBounded(realPath, MAX_SKILL_BYTES);
  if (!read.ok) throw new SkillLoadError(skill.name, skill.location, read.message);
  // The gate holds its file open, so no other one can have this number.
  if (read.stats.ino !== stats.ino || read.stats.dev !== stats.dev) {
    throw new SkillLoadError(skill.name, skill.location, "it was replaced while it was read.");
  }
  return read.text;
}

/** A skill that is no Markdown file (a YAML file, an object) as the text of a `SKILL.md`. */
export function writeSkillText(instructions: Instructions): string {
  return `${writeFields(skillFields(instructions))}\n${instructions.text}\n`;
}

/** The frontmatter of that text. */
export function skillFields({ name, manifest, frontmatter }: Instructions): Readonly<Record<string, Json>> {
  return { name, description: manifest.description, ...frontmatter };
}
