/**
 * The nouns of the pipeline. Each stage's output type proves that its check was made:
 * SkillCandidate (found) → ParsedSkill (read) → CheckedSkill (sound) → Skill (placed in a catalog).
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Json, SkillManifest } from "./manifest.ts";
import type { Scope } from "./scope.ts";

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
  readonly frontmatter?: Readonly<Record<string, Json>>;
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
  readonly manifest?: SkillManifest;
  readonly diagnostics: readonly Diagnostic[];
  /** No diagnostic of severity `error`. */
  readonly valid: boolean;
  /** Facts about the body that outlive it. */
  readonly body: BodyFacts;
}

export interface BodyFacts {
  readonly lines: number;
  readonly characters: number;
}

export type Trust = "trusted" | "untrusted";

export interface TrustDecision {
  readonly level: Trust;
  /** One sentence: why it is so. */
  readonly reason: string;
}

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

export interface SkillPlace {
  readonly scope: Scope;
  readonly location: string;
}

/** A skill in a catalog: tier 1 only, the body is read on activation. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly manifest: SkillManifest;
  readonly form: SkillForm;
  readonly scope: Scope;
  /** The skill file, absolute; `""` for a skill given as an object. */
  readonly location: string;
  readonly directory: string;
  /** The skills directory or custom path it was found under. */
  readonly root: string;
  /** Of a skill that a lock records. */
  readonly locked?: LockedSkill;
  /** Of a skill that an MCP server offers: `directory` is where its files are put when it is used. */
  readonly remote?: RemoteOrigin;
  readonly trust: TrustDecision;
  readonly status: SkillStatus;
  /** Why it is not `enabled`. */
  readonly reason?: string;
  /** The skills of the same name that this one hides. */
  readonly shadows: readonly SkillPlace[];
  readonly shadowedBy?: SkillPlace;
  readonly body: BodyFacts;
  readonly diagnostics: readonly Diagnostic[];
}
