/**
 * Gives every loaded skill its trust: those of files by real paths, grants and configuration, those of MCP servers, and
 * those that the embedding program gives as objects. The step before precedence.
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

/** A sound skill with everything that precedence, trust and status are decided on; the step before `Skill`. */
export interface PlacedSkill extends SoundSkill {
  readonly root: SkillRoot;
  /** Of a skill that an MCP server offers: nothing of it may be on disk. */
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
  /** All that are not of a server. */
  readonly others: readonly PlacedSkill[];
}

/**
 * Skills of MCP servers: made from what their servers declare, without a file. They stand under their own names
 * (`<label>:<name>`), so they hide nobody; that one has the name of another skill is said.
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
      .filter(({ code }) => !code.startsWith("body.")) // It is not known yet.
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

/** A skill that was not read from a file has no places in one. */
const WITHOUT_FILE: Omit<ParsedSkill, "candidate"> = {
  body: "",
  bodyLine: 1,
  position: () => undefined,
  written: () => undefined,
  diagnostics: [],
};

/** There is no file, so the path is an address that says which skill it is about. */
function locate({ line: _line, column: _column, ...diagnostic }: Diagnostic, path: string): Diagnostic {
  return { ...diagnostic, path };
}

function reportTaken({ name, origin, frontmatter }: RemoteSkill, { root }: PlacedSkill): Diagnostic {
  return {
    code: "remote.name-taken",
    severity: "info",
    path: remoteLocation(origin),
    message: `The MCP server \`${origin.server}\` offers a skill by the name of your ${root.scope} skill \`${frontmatter.name}\`; it is \`${name}\` here, and \`${frontmatter.name}\` stays yours.`,
  };
}

/** The files of a skill by their path below its folder; a text is written as UTF-8. */
export interface GivenFiles {
  /** Content by path, such as `scripts/run.py`; `SKILL.md` is made from the fields and is refused here. */
  readonly [path: string]: string | Uint8Array | ExecutableFile;
}

/** A file with its executable bit. */
export interface ExecutableFile {
  /** A text is written as UTF-8. */
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
  /** Lower-case letters, digits and single hyphens, at most 64 characters. */
  readonly name: string;
  /** What the skill does and when to use it: what a model chooses by. */
  readonly description: string;
  /** The body of the skill file: what a model is to do. */
  readonly instructions: string;
  /** Further files by path; a skill that has some gets a folder. */
  readonly files?: GivenFiles;
  /** Any other frontmatter field, such as `context` or `allowed-tools`. */
  readonly [field: string]: Json | GivenFiles | undefined;
}

/** They have the same manifest and rules as a file. What cannot be a skill is a diagnostic, as in a file. */
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
    const trust = { level: "trusted", reason: "The embedding program brings it." } as const;
    placed.push({ candidate, manifest, root, realFile: "", trust, body, diagnostics: located });
  }
  return { placed, diagnostics };
}

/** The program may be JavaScript, so nothing is taken for granted about what it gives. */
export function parseGiven(given: unknown): Result<ParsedSkill, readonly Diagnostic[]> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return refused([reportUnusable("", `A skill was given as ${kindOf(given)}; it must be an object.`)]);
  }
  const { instructions, files: _files, ...fields }: Readonly<Record<string, unknown>> = { ...given };
  const name = typeof fields.name === "string" ? fields.name.trim() : "";
  if (name === "" || typeof instructions !== "string") {
    const wrong = [
      ...(name === "" ? [`\`name\` is ${kindOf(fields.name)}; it must be a text that is not empty.`] : []),
      ...(typeof instructions === "string"
        ? []
        : [`\`instructions\` is ${kindOf(instructions)}; it must be a text.`]),
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

/** What a file could hold; `undefined` for a function, a circle and the like. */
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
    hint: "Give an object with `name`, `description` and `instructions`.",
  };
}

function reportNoData(key: string, value: unknown): Diagnostic {
  return {
    code: "field.wrong-type",
    severity: "error",
    path: "",
    message: `\`${key}\` is ${kindOf(value)} that no skill file could hold; it is left out.`,
    hint: "Give texts, numbers, booleans, or lists and plain objects of these.",
  };
}

/** What someone gave, in words, for what must not be shown or cannot be. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
