/** What an author writes to have a skill evaluated: tasks with what must be true afterwards, and requests for it. */

export interface EvalCase {
  /** As written; numbers as text. */
  readonly id: string;
  readonly name: string;
  /** The name of its folder, one of a kind in its set. */
  readonly folder: string;
  readonly prompt: string;
  readonly expectedOutput?: string | undefined;
  /** Input files: where they lie in the skill, and where a run finds them. */
  readonly files: readonly InputFile[];
  readonly assertions: readonly Assertion[];
}

export interface InputFile {
  /** Below the skill's folder. */
  readonly source: string;
  /** Below the workspace of a run. */
  readonly target: string;
}

export interface Assertion {
  /** What must be true, in words. */
  readonly text: string;
  readonly check: AssertionCheck;
}

/** How an assertion is decided. Everything but `model` needs none. */
export type AssertionCheck =
  /** A model reads the answer and the files, and says why. */
  | { readonly kind: "model" }
  /** A script of the skill, in the sandbox. */
  | { readonly kind: "script"; readonly script: string; readonly args: readonly string[] }
  /** Of the answer, or of a file of the run. */
  | { readonly kind: TextCheckKind; readonly value: string; readonly file?: string | undefined }
  | { readonly kind: "file-exists" | "file-absent"; readonly file: string };

export type TextCheckKind = "contains" | "not-contains" | "equals" | "regex" | "not-regex";

/** A request, and whether the skill beside it is the one for it. */
export interface TriggerQuery {
  readonly query: string;
  readonly shouldTrigger: boolean;
}
