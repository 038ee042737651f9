/** What can be known of another program that reads skills. The programs themselves stand in `clients.ts`. */
import type { Scope } from "../skill/skill-name.ts";

export interface Client {
  readonly id: string;
  readonly name: string;
  /** What people also call it. */
  readonly alsoCalled?: readonly string[];
  /** Where `install --agent` puts skills for it. */
  readonly folders?: ClientFolders;
  /** Its own directories and config, which Metier can take over as a preset. */
  readonly layout?: Layout;
  /** Fields of our manifest that its authors write, beside the keys that its reader knows. */
  readonly writes?: readonly string[];
  /** How it reads a skill, as far as that is known. */
  readonly reading?: Reading;
}

export interface ClientFolders {
  /** Below the home, with `/`. */
  readonly user: string;
  /** Below the root of a project. */
  readonly project: string;
  /** It does not find a skill whose folder is a link. */
  readonly ignoresLinks?: true;
}

export interface Layout {
  /** Below each project folder. */
  readonly projectDirs: readonly string[];
  readonly userDirs: readonly string[];
  readonly installedDirs: readonly string[];
  /** Scopes, lowest first. */
  readonly order: readonly Scope[];
  /** How a skill that does not say is run; `undefined`: as the config says. */
  readonly defaultExecution?: "auto" | "inline" | "isolated";
  /** The other system's own config, of which Metier reads some sections. */
  readonly configFiles: readonly { readonly path: string; readonly sections: readonly string[] }[];
  /** Environment variables that set the same keys: `MAMBA_SKILLS__AUTO_DISCOVER`. */
  readonly environmentPrefix?: string;
}

/** `breaks`: the skill is not loaded, or is loaded as another one. `note`: it is loaded, but worth knowing. */
export type Effect = "breaks" | "note";

interface Reading {
  /** The version or day that the facts were seen in. */
  readonly seen: string;
  /** Its own source was read, it was watched at work, or only its documentation says so. */
  readonly basis: "source" | "run" | "documentation";
  /** Few use it: what breaks there counts only for those who ask about it. */
  readonly isRare?: true;
  /** Keys that it acts on or shows, spelled as it reads them. */
  readonly keys: readonly string[];
  /** A file with other keys is refused; otherwise they are passed over. */
  readonly refusesOtherKeys?: true;
  readonly name?: NameRule;
  readonly description: DescriptionRule;
  readonly body?: BodyRule;
  /** Marks in the body that it replaces; `false`: it gives no body to a model. */
  readonly replaces?: readonly BodyMark[] | false;
  /** Where it looks in a project, if that is known. */
  readonly projectFolders?: readonly string[];
  /** How it takes a file and its values in ways of its own. */
  readonly ways?: readonly Way[];
}

interface NameRule {
  /** Otherwise the folder's name is taken. */
  readonly required?: true;
  /** It must be text in YAML, too: `name: 2024` is a number. */
  readonly text?: true;
  readonly grammar?: readonly [grammar: NameGrammar, effect: Effect];
  /** What becomes of a name that is not the folder's. */
  readonly folder?: Effect;
  /** What becomes of a name that is too long. */
  readonly longest?: { readonly effect: Effect; readonly words: string };
  /** It keeps names of its maker to itself. */
  readonly reserved?: true;
}

export type NameGrammar = "specification" | "plain" | "file-name" | "words" | "hyphens";

export interface DescriptionRule {
  /** What becomes of a skill without one. */
  readonly missing: Effect;
  readonly instead?: string;
  /** It must be text in YAML, too. */
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
  // what it makes of their text
  | "needs-no-frontmatter"
  | "trips-over-byte-order-mark"
  | "trips-over-blanks-before"
  | "trips-over-carriage-returns"
  | "trips-over-fence-in-value"
  | "repairs-no-yaml"
  | "takes-no-flow-style"
  | "takes-no-block-description"
  // in which form it takes values
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
