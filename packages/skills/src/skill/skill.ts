/**
 * The nouns of the pipeline. Each stage's output type proves that its check was made: SkillCandidate (found) →
 * ParsedSkill (read) → CheckedSkill (valid) → Skill (placed in a catalog).
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type { SkillManifest } from "./manifest.ts";
import type { Scope } from "./skill-name.ts";

/** `directory`: `<name>/SKILL.md`; `markdown`: `<name>.md`; `yaml`: `<name>.yaml` or `.yml`. */
export type SkillForm = "directory" | "markdown" | "yaml";

/** A path where a skill may be. Not read yet. */
export interface SkillCandidate {
  readonly form: SkillForm;
  /** The skill file, absolute, as reached (links not resolved). */
  readonly file: string;
  /** The skill's folder; for the flat forms the file's folder. */
  readonly directory: string;
  /** The directory name, or the file name without its extension. */
  readonly defaultName: string;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed skill file. Knows YAML, but no rule. */
export interface ParsedSkill extends ParsedHead {
  /** Instructions: `\n` line breaks, without surrounding blank lines. `""` if there are none. */
  readonly body: string;
}

/** Everything about a parsed skill file but its body. */
export interface ParsedHead {
  readonly candidate: SkillCandidate;
  /** `undefined` if there is no frontmatter, or none that could be read or repaired. */
  readonly frontmatter?: Readonly<Record<string, Json>> | undefined;
  /** 1-based line of the file where the body starts. */
  readonly bodyLine: number;
  /** Where a top-level key is; computed on demand, since most files never need it. */
  position(key: string): Position | undefined;
  /** How a number or boolean at a top-level key, or one level below, is written: `1.0` is the number 1. */
  written(...path: readonly string[]): string | undefined;
  /** What was repaired or could not be read, with the severity of the `standard` profile. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill file that may be loaded, or the reasons why not. */
export interface CheckedSkill {
  /** Present if the skill can be loaded under the profile, whatever the severity of the diagnostics. */
  readonly manifest?: SkillManifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** No diagnostic of severity `error`. */
  readonly valid: boolean;
  /** Facts about the body that are kept without it. */
  readonly body: BodyFacts;
}

export interface BodyFacts {
  /** How many lines the instructions have. */
  readonly lines: number;
  /** How many characters the instructions have. */
  readonly characters: number;
}

/** Whether a skill is trusted; an untrusted one gets no network, no secrets, no hooks and no working directory. */
export type Trust = "trusted" | "untrusted";

/** Whether a skill is trusted, and why. */
export interface TrustDecision {
  /** What the skill is trusted with. */
  readonly level: Trust;
  /** One sentence that explains it. */
  readonly reason: string;
}

/**
 * Whether a skill can be used: `disabled` by the configuration or not opted in to, `unavailable` because this machine
 * lacks something it requires, `shadowed` by another skill of its name.
 */
export type SkillStatus = "enabled" | "disabled" | "unavailable" | "shadowed";

/** What a lock records about an installed skill. */
export interface LockedSkill {
  /** The lock file. */
  readonly lock: string;
  /** Its name in its file. */
  readonly name: string;
  /** Its name in the catalog instead. */
  readonly alias?: string;
  /** Which skill of which source it is, in any version. */
  readonly origin: string;
  /** The content identity it had when it was installed. */
  readonly digest: string;
  /** A folder used in place, which may change. */
  readonly linked?: true;
}

/** A file of an MCP server's skill, as declared by the server. */
export interface RemoteFile {
  /** In the skill's folder, with `/` between segments. */
  readonly path: string;
  /** The file's URI on its server. */
  readonly uri: string;
  /** In bytes. */
  readonly size: number;
  /** `sha256:…` of its bytes. */
  readonly digest: string;
}

/** Which skill of which MCP server it is. A URI is meaningful only to its server, so both together identify it. */
export interface RemoteOrigin {
  /** The server's label in the user's config, whatever it calls itself. */
  readonly server: string;
  /** Of its `SKILL.md`. */
  readonly uri: string;
  /** All of them; an unlisted file does not belong to the skill. */
  readonly files: readonly RemoteFile[];
  /** The content identity of these files: fetched files must match it, and an approval is bound to it. */
  readonly digest: string;
}

/** Which skill of which program source it is, and its content when it was read. */
export interface SourceOrigin {
  /** The source's name. */
  readonly source: string;
  /** The skill's id in the source. */
  readonly id: string;
  /** The content identity of the files that were read: what is used must match it. */
  readonly digest: string;
}

/** Where a skill is: its scope and its file. */
export interface SkillLocation {
  /** The scope it comes from. */
  readonly scope: Scope;
  /** The skill file, absolute; `""` for a skill defined in code. */
  readonly location: string;
}

/**
 * A skill in a catalog: its metadata and its state, without its instructions, which are read on use.
 *
 * @example
 * ```ts
 * const skill: Skill | undefined = metier.get("deploy");
 * if (skill?.status === "unavailable") console.log(skill.reason);
 * ```
 */
export interface Skill {
  /** Its name here: its own, the alias in a lock, or `<label>:<name>` for a skill of an MCP server. */
  readonly name: string;
  /** What it does and when to use it; models choose skills by it. */
  readonly description: string;
  /** All its frontmatter fields, checked and with defaults. */
  readonly manifest: SkillManifest;
  /** Whether it is a folder or a single file. */
  readonly form: SkillForm;
  /** Where it comes from; with the name it forms the address `scope:name`. */
  readonly scope: Scope;
  /** The skill file, absolute; `""` for a skill defined in code. */
  readonly location: string;
  /** The skill's folder, absolute; for a single file its folder, `""` for a skill defined in code without files. */
  readonly directory: string;
  /** The skills directory or custom path it was found under. */
  readonly root: string;
  /** For a skill that a lock records. */
  readonly locked?: LockedSkill | undefined;
  /** For a skill that an MCP server offers: its files are put into `directory` on use. */
  readonly remote?: RemoteOrigin | undefined;
  /** For a skill from a program source: its files were put into `directory`. */
  readonly source?: SourceOrigin | undefined;
  /** Whether it is trusted, and why. */
  readonly trust: TrustDecision;
  /** Whether it can be used; if not, `reason` says why. */
  readonly status: SkillStatus;
  /** Why it is not `enabled`. */
  readonly reason?: string | undefined;
  /** The skills of the same name that this one shadows. */
  readonly shadows: readonly SkillLocation[];
  /** The skill that shadows this one; present if the status is `shadowed`. */
  readonly shadowedBy?: SkillLocation | undefined;
  /** The size of the instructions; 0 for a skill of an MCP server, whose text is not fetched yet. */
  readonly body: BodyFacts;
  /** What the rules found in this skill, and hints about this machine. */
  readonly diagnostics: readonly Diagnostic[];
}
