/** The facts about another program that reads skills. `clients.ts` lists the programs. */
import type { Scope } from "../skill/skill-name.ts";

export interface Client {
  readonly id: string;
  readonly name: string;
  /** Other names for it. */
  readonly alsoCalled?: readonly string[];
  /** Where `install --agent` puts skills for it. */
  readonly folders?: ClientFolders;
  /** Its own directories and config, which Metier can use as a preset. */
  readonly layout?: Layout;
  /** Manifest fields that its authors write, besides the keys that its reader knows. */
  readonly writes?: readonly string[];
  /** How it reads a skill, as far as known. */
  readonly reading?: Reading;
}

export interface ClientFolders {
  /** Relative to the home, with `/`. */
  readonly user: string;
  /** Relative to a project's root. */
  readonly project: string;
  /** It does not find a skill whose folder is a link. */
  readonly ignoresLinks?: true;
}

export interface Layout {
  /** Relative to each project folder. */
  readonly projectDirs: readonly string[];
  readonly userDirs: readonly string[];
  readonly installedDirs: readonly string[];
  /** Scopes, lowest first. */
  readonly order: readonly Scope[];
  /** How to run a skill that does not say; `undefined`: as configured. */
  readonly defaultExecution?: "auto" | "inline" | "isolated";
  /** The other system's own config, of which Metier reads some sections. */
  readonly configFiles: readonly { readonly path: string; readonly sections: readonly string[] }[];
  /** Environment variables for the same keys: `MAMBA_SKILLS__AUTO_DISCOVER`. */
  readonly environmentPrefix?: string;
}

/** `breaks`: the skill is not loaded, or is loaded as another one. `note`: it is loaded, but worth knowing. */
export type Effect = "breaks" | "note";

interface Reading {
  /** The version or day that the facts are from. */
  readonly seen: string;
  /** Its source was read, it was observed, or only its documentation says so. */
  readonly basis: "source" | "run" | "documentation";
  /** Few use it: what breaks there counts only for those who ask about it. */
  readonly isRare?: true;
  /** Keys that it uses or shows, spelled as it reads them. */
  readonly keys: readonly string[];
  /** It refuses a file with other keys; otherwise it ignores them. */
  readonly refusesOtherKeys?: true;
  readonly name?: NameRule;
  readonly description: DescriptionRule;
  readonly body?: BodyRule;
  /** Placeholders in the body that it replaces; `false`: it gives no body to a model. */
  readonly replaces?: readonly BodyMark[] | false;
  /** Where it looks in a project, if known. */
  readonly projectFolders?: readonly string[];
  /** Its peculiarities in reading a file and its values. */
  readonly ways?: readonly Way[];
}

interface NameRule {
  /** Otherwise it uses the folder's name. */
  readonly required?: true;
  /** It must also be text in YAML: `name: 2024` is a number. */
  readonly text?: true;
  readonly grammar?: readonly [grammar: NameGrammar, effect: Effect];
  /** What happens to a name that differs from the folder's. */
  readonly folder?: Effect;
  /** What happens to a name that is too long. */
  readonly longest?: { readonly effect: Effect; readonly words: string };
  /** It reserves its maker's names. */
  readonly reserved?: true;
}

export type NameGrammar = "specification" | "plain" | "file-name" | "words" | "hyphens";

export interface DescriptionRule {
  /** What happens to a skill without one. */
  readonly missing: Effect;
  readonly instead?: string;
  /** It must also be text in YAML. */
  readonly text?: true;
  readonly longest?: { readonly characters: number; readonly effect: Effect; readonly words: string };
  readonly noTags?: true;
}

export interface BodyRule {
  readonly characters: number;
  readonly effect: Effect;
  readonly message: string;
}

export type BodyMark = "arguments" | "claude-folder" | "metier-folder" | "command";

export type Way =
  // which files it finds
  | "flat-files"
  | "yaml-files"
  | "lower-case-name"
  | "any-case-name"
  // how it reads their text
  | "needs-no-frontmatter"
  | "trips-over-byte-order-mark"
  | "trips-over-blanks-before"
  | "trips-over-carriage-returns"
  | "trips-over-fence-in-value"
  | "repairs-no-yaml"
  | "takes-no-flow-style"
  | "takes-no-block-description"
  // which forms of values it accepts
  | "holds-compatibility"
  | "tools-are-a-line"
  | "tools-without-commas"
  | "tools-only-a-line"
  | "tools-are-a-list"
  | "qwen-values"
  | "switches-are-booleans"
  | "metadata-is-a-map"
  | "metadata-holds-texts"
  | "metadata-is-flat"
  | "short-description-is-text"
  | "metadata-counts-as-own";
