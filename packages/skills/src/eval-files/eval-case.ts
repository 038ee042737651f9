/** What an author writes to evaluate a skill: tasks with assertions about the result, and requests for it. */

export interface EvalCase {
  /** As written; numbers as strings. */
  readonly id: string;
  readonly name: string;
  /** The name of its folder, unique in its set. */
  readonly folder: string;
  readonly prompt: string;
  readonly expectedOutput?: string | undefined;
  /** Input files: where they are in the skill, and where a run finds them. */
  readonly files: readonly InputFile[];
  readonly assertions: readonly Assertion[];
}

export interface InputFile {
  /** In the skill's folder. */
  readonly source: string;
  /** In a run's workspace. */
  readonly target: string;
}

export interface Assertion {
  /** What must be true, in words. */
  readonly text: string;
  readonly check: AssertionCheck;
}

/** How an assertion is decided. Only `model` needs a model. */
export type AssertionCheck =
  /** A model reads the answer and the files, and says why. */
  | { readonly kind: "model" }
  /** A script of the skill, in the sandbox. */
  | { readonly kind: "script"; readonly script: string; readonly args: readonly string[] }
  /** About the answer, or a file of the run. */
  | { readonly kind: TextCheckKind; readonly value: string; readonly file?: string | undefined }
  | { readonly kind: "file-exists" | "file-absent"; readonly file: string };

export type TextCheckKind = "contains" | "not-contains" | "equals" | "regex" | "not-regex";

/** A request, and whether this skill should handle it. */
export interface TriggerQuery {
  readonly query: string;
  readonly shouldTrigger: boolean;
}
