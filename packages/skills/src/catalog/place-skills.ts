/**
 * Gives every loaded skill its trust: those from files by real paths, grants and configuration, those of MCP servers,
 * and those defined in code by the embedding program. The step before precedence.
 */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import type { ParsedSkill, RemoteOrigin, TrustDecision } from "../skill/skill.ts";
import type { RemoteSkill, RemoteSkills, SkillRoot } from "../sources/skill-roots.ts";
import { decideRemoteTrust, remoteLocation } from "../trust/decide-trust.ts";
import type { Grants } from "../trust/grants.ts";
import type { Profile } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import type { RootContent, SoundSkill } from "./read-root.ts";
import { type TrustInputs, trustInList } from "./skill-trust.ts";

/** A valid skill with everything that decides precedence, trust and status; the step before `Skill`. */
export interface PlacedSkill extends SoundSkill {
  readonly root: SkillRoot;
  /** For a skill of an MCP server: it may have no files on disk. */
  readonly remote?: RemoteOrigin;
  readonly trust: TrustDecision;
}

interface PlacedSkills {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeSkills(contents: readonly RootContent[], inputs: TrustInputs): PlacedSkills {
  const trustOf = trustInList(
    contents.map(({ root }) => root),
    inputs,
  );
  const placed = contents.flatMap(({ root, skills }) => {
    const decide = trustOf.inRoot(root);
    return skills.map((skill): PlacedSkill => {
      const { candidate, realFile, manifest, body, diagnostics } = skill;
      const { form, file: location, directory } = candidate;
      const trust = decide({ name: manifest.name, form, location, directory, root, realFile });
      return { candidate, realFile, manifest, body, diagnostics, root, trust };
    });
  });
  return { placed, diagnostics: trustOf.diagnostics };
}

interface PlaceRemoteInputs {
  readonly remote?: RemoteSkills;
  readonly profile: Profile;
  readonly grants: Grants;
  readonly remoteRank: number;
  /** All that are not from a server. */
  readonly others: readonly PlacedSkill[];
}

/**
 * Skills of MCP servers: made from the servers' declarations, without a file. They have their own names
 * (`<label>:<name>`), so they shadow nothing; a shared name is reported.
 */
export function placeRemote(inputs: PlaceRemoteInputs): PlacedSkills {
  const { remote, profile, grants, remoteRank: rank } = inputs;
  if (remote === undefined) return { placed: [], diagnostics: [] };
  const taken = new Map(inputs.others.map((skill) => [skill.manifest.name, skill]));
  const placed: PlacedSkill[] = [];
  const diagnostics: Diagnostic[] = [...remote.diagnostics];
  for (const skill of remote.skills) {
    const { name, origin, frontmatter, folder } = skill;
    const file = join(folder, "SKILL.md");
    const candidate = { form: "directory", file, directory: folder, defaultName: frontmatter.name } as const;
    const {
      manifest,
      body,
      diagnostics: found,
    } = validateSkill({ ...WITHOUT_FILE, candidate, frontmatter }, profile);
    const located = found
      .filter(({ code }) => !code.startsWith("body.")) // Not known yet.
      .map((diagnostic) => locate(diagnostic, remoteLocation(origin)));
    diagnostics.push(...located);
    if (manifest === undefined) continue;
    placed.push({
      candidate,
      manifest: { ...manifest, name },
      root: { scope: "remote", path: folder, kind: "foreign", rank, explicit: true, grantFolder: folder },
      realFile: file,
      remote: origin,
      trust: decideRemoteTrust(name, origin, grants),
      body,
      diagnostics: located,
    });
    const other = taken.get(frontmatter.name);
    if (other) diagnostics.push(reportTaken(skill, other));
  }
  return { placed, diagnostics };
}

/** A skill that was not read from a file has no positions in one. */
const WITHOUT_FILE: Omit<ParsedSkill, "candidate"> = {
  body: "",
  bodyLine: 1,
  position: () => undefined,
  written: () => undefined,
  diagnostics: [],
};

/** There is no file, so the path is an address that identifies the skill. */
function locate({ line: _line, column: _column, ...diagnostic }: Diagnostic, path: string): Diagnostic {
  return { ...diagnostic, path };
}

function reportTaken({ name, origin, frontmatter }: RemoteSkill, { root }: PlacedSkill): Diagnostic {
  return {
    code: "remote.name-taken",
    severity: "info",
    path: remoteLocation(origin),
    message: `The MCP server \`${origin.server}\` offers a skill with the name of your ${root.scope} skill \`${frontmatter.name}\`; it is called \`${name}\` here, and \`${frontmatter.name}\` stays yours.`,
  };
}

/** A skill's files by their path in its folder; a string is written as UTF-8. */
export interface GivenFiles {
  /** Content by path, such as `scripts/run.py`; `SKILL.md` is generated from the fields and refused here. */
  readonly [path: string]: string | Uint8Array | ExecutableFile;
}

/** A file with its executable bit. */
export interface ExecutableFile {
  /** A string is written as UTF-8. */
  readonly content: string | Uint8Array;
  /** Whether the file gets its executable bit. Default: `false`. */
  readonly executable?: boolean;
}

/**
 * A skill as an object: the frontmatter fields of a skill file, in any accepted spelling, its body as `instructions`,
 * and its other files. `defineSkill` is the same with types.
 *
 * @example
 * ```ts
 * const greet: GivenSkill = {
 *   name: "greet",
 *   description: "Greet someone. Use when a user says hello.",
 *   instructions: "Greet $ARGUMENTS in one sentence.",
 * };
 * const metier = await createMetier({ integrations: [greet] });
 * ```
 */
export interface GivenSkill {
  /** Lowercase letters, digits and single hyphens, at most 64 characters. */
  readonly name: string;
  /** What the skill does and when to use it; models choose skills by it. */
  readonly description: string;
  /** The body of the skill file: what a model should do. */
  readonly instructions: string;
  /** More files by path; a skill with files gets a folder. */
  readonly files?: GivenFiles;
  /** Any other frontmatter field, such as `context` or `allowed-tools`. */
  readonly [field: string]: Json | GivenFiles | undefined;
}

/** They follow the same rules as files. Invalid ones are diagnostics, as in a file. */
export function placeGiven(
  skills: readonly GivenSkill[],
  { profile, integrationRank }: { readonly profile: Profile; readonly integrationRank: number },
): PlacedSkills {
  const root: SkillRoot = {
    scope: "integration",
    path: "",
    kind: "own",
    rank: integrationRank,
    explicit: true,
    grantFolder: "",
  };
  const placed: PlacedSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const skill of skills) {
    const parsed = parseGiven(skill);
    if (!parsed.ok) {
      diagnostics.push(...parsed.refusal);
      continue;
    }
    const { candidate } = parsed.value;
    const { manifest, body, diagnostics: found } = validateSkill(parsed.value, profile);
    const located = found.map((diagnostic) => locate(diagnostic, `integration:${candidate.defaultName}`));
    diagnostics.push(...located);
    if (manifest === undefined) continue;
    const trust = { level: "trusted", reason: "The embedding program provides it." } as const;
    placed.push({ candidate, manifest, root, realFile: "", trust, body, diagnostics: located });
  }
  return { placed, diagnostics };
}

/** The program may be JavaScript, so its input is fully checked. */
export function parseGiven(given: unknown): Result<ParsedSkill, readonly Diagnostic[]> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return refused([reportUnusable("", `A skill was given as ${kindOf(given)}; it must be an object.`)]);
  }
  const { instructions, files: _files, ...fields }: Readonly<Record<string, unknown>> = { ...given };
  const name = typeof fields.name === "string" ? fields.name.trim() : "";
  if (name === "" || typeof instructions !== "string") {
    const wrong = [
      ...(name === "" ? [`\`name\` is ${kindOf(fields.name)}; it must be a non-empty string.`] : []),
      ...(typeof instructions === "string"
        ? []
        : [`\`instructions\` is ${kindOf(instructions)}; it must be a string.`]),
    ];
    return refused(wrong.map((fault) => reportUnusable(name, fault)));
  }
  const frontmatter: Record<string, Json> = {};
  const diagnostics: Diagnostic[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const json = toJson(value);
    if (json === undefined) diagnostics.push(reportNoData(key, value));
    else frontmatter[key] = json;
  }
  const candidate = { form: "directory", file: "", directory: "", defaultName: name } as const;
  return done({ ...WITHOUT_FILE, candidate, frontmatter, body: instructions.trim(), diagnostics });
}

/** What a file could contain; `undefined` for a function, a cycle and the like. */
function toJson(value: unknown): Json | undefined {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Which is reported.
  }
}

export function reportUnusable(name: string, message: string): Diagnostic {
  return {
    code: "given.unusable",
    severity: "error",
    path: `integration:${name || "(no name)"}`,
    message,
    hint: "Pass an object with `name`, `description` and `instructions`.",
  };
}

function reportNoData(key: string, value: unknown): Diagnostic {
  return {
    code: "field.wrong-type",
    severity: "error",
    path: "",
    message: `\`${key}\` is ${kindOf(value)} that a skill file cannot contain; it was ignored.`,
    hint: "Use strings, numbers, booleans, or lists and plain objects of these.",
  };
}

/** Describes a value in words, if it must not or cannot be shown. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.trim() === "" ? "an empty string" : "a string";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
