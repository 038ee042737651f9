/** A piece of code in a skill: a whole file, a code block, a command in the text, a hook, or code within code. */
import type { Position } from "../../skill/skill.ts";
import { createLineFinder, type LineFinder } from "../line-finder.ts";

/** The last five have no grammar here and are read line by line. */
export type CodeLanguage = "shell" | "python" | "javascript" | "powershell" | "ruby" | "perl" | "php" | "lua";

/**
 * `script`: a file. `block`: a code block of a document. `span`: code within a sentence. `dynamic`: !`…`, which runs
 * before the text is shown. `hook`: declared in the frontmatter.
 */
export type PartKind = "script" | "block" | "span" | "dynamic" | "hook";

export interface CodePart {
  readonly path: string;
  readonly language: CodeLanguage;
  readonly kind: PartKind;
  readonly text: string;
  /** 1-based line of the file on which it begins. */
  readonly firstLine: number;
  /** Of code within code: where the outer code stands. */
  readonly within?: Position;
  /** The document says next to it that it is what one must not do. */
  readonly isWarning: boolean;
  /** The sentence around it says to run it. */
  readonly isToBeRun?: boolean;
  /** Only the marks of its output are asked for; what it does was or will be noted another time. */
  readonly isTrial?: true;
}

const finders = new WeakMap<CodePart, LineFinder>();

export function placeIn(part: CodePart, at: number): Position {
  if (part.within) return part.within;
  const find = finders.get(part) ?? createLineFinder(part.text, part.firstLine);
  finders.set(part, find);
  return find(at);
}

/** Code in a text of code, placed where the outer one stands. */
export function partWithin(part: CodePart, at: number, language: CodeLanguage, text: string): CodePart {
  return { ...part, language, text, within: placeIn(part, at) };
}
