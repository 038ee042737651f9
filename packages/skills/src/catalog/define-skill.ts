/**
 * A skill defined in code: typed, so that a mistyped field does not compile, and checked at once for JavaScript
 * programs. With files it gets a folder, and is then like a skill in a folder.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { SkillValidationError } from "@metier/base/errors";
import { checkContainedPath } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { checkKeys } from "@metier/base/shape";
import { showValue, toCamelCase } from "@metier/base/text";
import { writeFields } from "../parse/write-fields.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { MANIFEST_FIELDS } from "../skill/manifest-fields.ts";
import { SHELF_LIMITS } from "../sources/read-sources.ts";
import type { Shelf, ShelvedFile } from "../sources/shelf.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { PROGRAM_SOURCE } from "../sources/skill-source.ts";
import { type GivenFiles, type GivenSkill, parseGiven, placeGiven, reportUnusable } from "./place-skills.ts";

/** Written differently, or not a field that a program would set. */
type Others = "name" | "description" | "version" | "tags" | "chatTypes" | "metadata" | "fallback";

/** A list may be one line; a map of lists needs only some of its lists. */
type Written<Value> = Value extends readonly string[]
  ? string | readonly string[]
  : Value extends { readonly [key: string]: readonly string[] } | SkillManifest["requires"]
    ? { readonly [Key in keyof Value]?: readonly string[] | undefined }
    : Value;

type Fields = {
  readonly [Field in Exclude<keyof SkillManifest, Others>]?: Written<SkillManifest[Field]> | undefined;
};

/** What `defineSkill` takes: the fields of a skill file in camelCase, its body, and its other files. */
export interface SkillInit<Name extends string = string> extends Fields {
  /** Lowercase letters, digits and single hyphens, at most 64 characters. */
  readonly name: Name;
  /** What the skill does and when to use it; models choose skills by it. */
  readonly description: string;
  /** The body of the skill file: what a model should do. */
  readonly instructions: string;
  /** More files by their path in the skill's folder, such as `references/guide.md` or `scripts/run.py`. */
  readonly files?: GivenFiles | undefined;
  /** More facts as text; `version`, `author`, `tags` and `requires` have a meaning. */
  readonly metadata?: Readonly<Record<string, Json>> | undefined;
  /** Where the skill may be invoked. */
  readonly access?:
    | {
        /** The chat types where it may be used. */
        readonly chatTypes: string | readonly string[];
      }
    | undefined;
}

const KEYS: Readonly<Record<string, true>> = {
  ...Object.fromEntries(MANIFEST_FIELDS.map(({ name }) => [toCamelCase(name), true])),
  instructions: true,
  files: true,
};

/** A warning in someone else's file is the program's fault here. */
const WRONG_VALUES: ReadonlySet<string> = new Set([
  "field.wrong-type",
  "field.wrong-item",
  "field.wrong-choice",
  "field.unknown-key",
  "field.scalar-for-text",
  "field.structure-for-text",
]);

/**
 * A skill that a program brings, for `integrations` and `register`. Throws `UsageError` for a field that no skill has, and
 * `SkillValidationError` for what cannot be a skill.
 *
 * @example
 * ```ts
 * const review = defineSkill({
 *   name: "review-contract",
 *   description: "Review a contract for risks. Use when a user shares one.",
 *   instructions: "Compare it with `references/rules.md`, point by point.",
 *   context: "fork",
 *   files: { "references/rules.md": rules },
 * });
 * const metier = await createMetier({ integrations: [review] });
 * ```
 */
export function defineSkill<const Name extends string>(
  skill: SkillInit<Name>,
): GivenSkill & { readonly name: Name } {
  checkKeys("defineSkill", skill, KEYS);
  const { files, ...fields } = skill;
  const given = { ...structuredClone(fields), ...(files && { files: copyFiles(files) }) };
  const { diagnostics } = placeGiven([given as GivenSkill], { profile: "standard", integrationRank: 0 });
  const faults = diagnostics
    .filter(({ code, severity }) => severity === "error" || WRONG_VALUES.has(code))
    .map(({ message }) => message);
  const read = files === undefined ? done([]) : readFiles(files);
  if (!read.ok) faults.push(read.refusal);
  if (faults.length > 0) throw new SkillValidationError(String(skill.name), faults);
  return Object.freeze(given) as GivenSkill & { readonly name: Name };
}

/** A copy, independent of what the program does with its own later. */
function copyFiles(files: GivenFiles): GivenFiles {
  const copies = Object.entries(files).map(([path, file]) => [
    path,
    file instanceof Uint8Array ? Uint8Array.from(file) : file,
  ]);
  return Object.freeze(Object.fromEntries(copies));
}

/** Whether a skill defined in code needs a folder. */
export function hasFiles({ files }: GivenSkill): boolean {
  return files !== undefined;
}

/** A skill with files, as the root of its folder. Invalid skills are diagnostics, as in a file. */
export function shelveGiven(
  skill: GivenSkill,
  shelf: Shelf,
  rank: number,
): Result<SkillRoot, readonly Diagnostic[]> {
  const parsed = parseGiven(skill);
  if (!parsed.ok) return parsed;
  const { candidate, frontmatter = {}, body, diagnostics } = parsed.value;
  const name = candidate.defaultName;
  const refuse = (message: string): Result<SkillRoot, readonly Diagnostic[]> =>
    refused([reportUnusable(name, message)]);
  if (diagnostics.length > 0) {
    return refused(diagnostics.map((entry) => ({ ...entry, path: `integration:${name}` })));
  }
  const folderName = checkContainedPath(name);
  if (!folderName.ok || folderName.segments.length !== 1) {
    return refuse(`\`name\` is ${showValue(name)}, which is not valid as a folder name.`);
  }
  const read = readFiles(skill.files);
  if (!read.ok) return refuse(read.refusal);
  const text = Buffer.from(`${writeFields(frontmatter)}\n${body}\n`);
  try {
    const skillFile = { path: "SKILL.md", bytes: text, executable: false };
    const { folder, digest } = shelf.put(folderName.path, [skillFile, ...read.value]);
    return done({
      scope: "integration",
      path: folder,
      kind: "own",
      rank,
      explicit: true,
      grantFolder: folder,
      source: { source: PROGRAM_SOURCE, id: name, digest },
    });
  } catch (fault) {
    return refuse(`Its files cannot be written: ${(fault as Error).message}.`);
  }
}

function readFiles(files: unknown): Result<readonly ShelvedFile[], string> {
  if (typeof files !== "object" || files === null || Array.isArray(files)) {
    return refused("`files` is not an object of paths and contents.");
  }
  const entries = Object.entries(files);
  const { filesPerSkill, bytesPerSkill } = SHELF_LIMITS;
  if (entries.length > filesPerSkill) return refused(`\`files\` has more than ${filesPerSkill} files.`);
  const read: ShelvedFile[] = [];
  let size = 0;
  for (const [path, file] of entries) {
    const contained = checkContainedPath(path);
    if (!contained.ok) return refused(`\`files\`: ${contained.message}.`);
    if (contained.path === "SKILL.md") {
      return refused("`files` contains `SKILL.md`, which is generated from the fields and `instructions`.");
    }
    const isPlain = typeof file === "string" || file instanceof Uint8Array;
    const { content, executable = false } = isPlain ? { content: file } : Object(file);
    if (typeof content !== "string" && !(content instanceof Uint8Array)) {
      return refused(`\`files\`: ${showValue(path)} is neither a string nor bytes.`);
    }
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    size += bytes.length;
    if (size > bytesPerSkill) return refused(`\`files\` has more than ${bytesPerSkill} bytes.`);
    read.push({ path: contained.path, bytes, executable: executable === true });
  }
  return done(read);
}
