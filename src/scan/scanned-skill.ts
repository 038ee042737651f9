/** A skill as rules see it: every file read once, code followed, documents taken apart. */
import type { SkillManifest } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { Act } from "./code/act.ts";
import type { CodeLanguage } from "./code/code-part.ts";
import type { Signature } from "./file-kind.ts";
import type { MarkdownParts } from "./markdown.ts";
import type { SkippedPart } from "./scan-limits.ts";

export interface ScannedFile {
  /** Below the skill's folder, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "link" | "special";
  /** Of a link: where it leads. */
  readonly target?: string;
  readonly size: number;
  readonly executable: boolean;
  /** Absent when it is no text, or was not read. */
  readonly text?: string;
  /** The first and the last bytes of what is no text. */
  readonly head?: Uint8Array;
  readonly tail?: Uint8Array;
  readonly signature?: Signature;
  readonly language?: CodeLanguage;
  /** Why it was not read. */
  readonly fault?: string;
}

export interface ScannedDocument {
  readonly file: ScannedFile & { readonly text: string };
  readonly parts: MarkdownParts;
}

export interface ScannedSkill {
  readonly name: string;
  /** Names that this one could be mistaken for. */
  readonly knownNames: readonly string[];
  /** Path of the skill file below the folder. */
  readonly skillFile: string;
  readonly files: readonly ScannedFile[];
  /** What could not be read of it, or whose code could not be followed; `.` is the folder itself. */
  readonly unread: readonly SkippedPart[];
  /** Texts for people and models: Markdown and plain text. */
  readonly documents: readonly ScannedDocument[];
  readonly parsed?: ParsedSkill;
  readonly manifest?: SkillManifest;
  readonly acts: readonly Act[];
}
