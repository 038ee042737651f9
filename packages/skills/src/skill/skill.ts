/**
 * The nouns of the pipeline. Each stage's output type proves that its check was made:
 * SkillCandidate (found) → ParsedSkill (read) → CheckedSkill (sound) → Skill (placed in a catalog).
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type { SkillManifest } from "./manifest.ts";
import type { Scope } from "./skill-name.ts";

/** `directory`: `<name>/SKILL.md`; `markdown`: `<name>.md`; `yaml`: `<name>.yaml` or `.yml`. */
export type SkillForm = "directory" | "markdown" | "yaml";

/** A place where a skill may be. Nothing of it has been read. */
export interface SkillCandidate {
  readonly form: SkillForm;
  /** The skill file, absolute, as reached (links not resolved). */
  readonly file: string;
  /** The skill's folder; for the flat forms the folder the file stands in. */
  readonly directory: string;
  /** The directory name, or the file name without its ending. */
  readonly defaultName: string;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A skill file taken apart. Knows YAML, knows no rule. */
export interface ParsedSkill {
  readonly candidate: SkillCandidate;
  /** `undefined` when there is no frontmatter, or none that could be read or repaired. */
  readonly frontmatter?: Readonly<Record<string, Json>> | undefined;
  /** Instructions: line ends as `\n`, without surrounding blank lines. `""` when there are none. */
  readonly body: string;
  /** 1-based line of the file on which the body begins. */
  readonly bodyLine: number;
  /** Where a top-level key stands; computed when asked, since most files need it never. */
  position(key: string): Position | undefined;
  /** How a number or boolean at a top-level key, or one level below it, is written: `1.0` is the number 1. */
  written(...path: readonly string[]): string | undefined;
  /** What was repaired or could not be read. Severity here is that of the `standard` profile. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill file that may be loaded, or the reasons why not. */
export interface CheckedSkill {
  /** Present when the skill can be loaded under the profile, whatever the severity of the diagnostics. */
  readonly manifest?: SkillManifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** No diagnostic of severity `error`. */
  readonly valid: boolean;
  /** Facts about the body that outlive it. */
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
  /** One sentence: why it is so. */
  readonly reason: string;
}

/**
 * Whether a skill can be used: `disabled` by the configuration or not opted in to, `unavailable` because this machine
 * lacks something it requires, `shadowed` by another skill of its name.
 */
export type SkillStatus = "enabled" | "disabled" | "unavailable" | "shadowed";

/** What a lock records of an installed skill. */
export interface LockedSkill {
  /** The lock file. */
  readonly lock: string;
  /** What its file calls it. */
  readonly name: string;
  /** What the catalog calls it instead. */
  readonly alias?: string;
  /** Which skill of which source it is, whatever its version. */
  readonly origin: string;
  /** The content identity it had when it was installed. */
  readonly digest: string;
  /** A folder that is used in place: whoever works in it changes it. */
  readonly linked?: true;
}

/** A file of a skill of an MCP server, as the server declares it. */
export interface RemoteFile {
  /** Below the skill's folder, with `/` between segments. */
  readonly path: string;
  /** The address of the file on its server. */
  readonly uri: string;
  /** In bytes. */
  readonly size: number;
  /** `sha256:…` of its bytes. */
  readonly digest: string;
}

/** Which skill of which MCP server it is. A URI means something to its server alone, so both together identify it. */
export interface RemoteOrigin {
  /** The server's label in the user's config, whatever it calls itself. */
  readonly server: string;
  /** Of its `SKILL.md`. */
  readonly uri: string;
  /** All of them; what is not listed is no file of the skill. */
  readonly files: readonly RemoteFile[];
  /** The content identity of these files: what is fetched must have it, and an approval is bound to it. */
  readonly digest: string;
}

/** Which skill of which source of the program it is, and what it was when it was read. */
export interface SourceOrigin {
  /** The source's name. */
  readonly source: string;
  /** What the source calls it. */
  readonly id: string;
  /** The content identity of the files that were read: what is used must have it. */
  readonly digest: string;
}

/** Where a skill is: its scope and its file. */
export interface SkillLocation {
  /** The scope it comes from. */
  readonly scope: Scope;
  /** The skill file, absolute; `""` for a skill given as an object. */
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
  /** The name it has here: its own, the alias in a lock, or `<label>:<name>` for a skill of an MCP server. */
  readonly name: string;
  /** What it does and when to use it: what a model chooses by. */
  readonly description: string;
  /** All its frontmatter fields, checked and with defaults. */
  readonly manifest: SkillManifest;
  /** Whether it is a folder or a single file. */
  readonly form: SkillForm;
  /** Where it comes from; together with the name its address, `scope:name`. */
  readonly scope: Scope;
  /** The skill file, absolute; `""` for a skill given as an object. */
  readonly location: string;
  /** The skill's folder, absolute; for a single file the folder it is in, `""` for an object without files. */
  readonly directory: string;
  /** The skills directory or custom path it was found under. */
  readonly root: string;
  /** Of a skill that a lock records. */
  readonly locked?: LockedSkill | undefined;
  /** Of a skill that an MCP server offers: `directory` is where its files are put when it is used. */
  readonly remote?: RemoteOrigin | undefined;
  /** Of a skill that a source of the program brings: `directory` is where its files were put. */
  readonly source?: SourceOrigin | undefined;
  /** Whether it is trusted, and why. */
  readonly trust: TrustDecision;
  /** Whether it can be used; `reason` says why not. */
  readonly status: SkillStatus;
  /** Why it is not `enabled`. */
  readonly reason?: string | undefined;
  /** The skills of the same name that this one hides. */
  readonly shadows: readonly SkillLocation[];
  /** The skill that hides this one; present when the status is `shadowed`. */
  readonly shadowedBy?: SkillLocation | undefined;
  /** The size of the instructions; 0 for a skill of an MCP server, whose text is not fetched yet. */
  readonly body: BodyFacts;
  /** What the rules found in this skill, and hints about this machine. */
  readonly diagnostics: readonly Diagnostic[];
}
