/**
 * What code does, whatever language it is written in: rules ask for acts and know no grammar. Parts of a value that
 * cannot be known without running it are `UNKNOWN` in its text.
 */
import type { CodePart } from "./code-part.ts";
import type { Taints } from "./taint.ts";

/** Stands for what is not known in a text that is known otherwise; no file contains it by accident. */
export const UNKNOWN = "\uFFFC";

export type ActKind =
  /** A program of the shell with its words. */
  | "command"
  /** Text, or a file, is executed as code. `taints` are those of the code. */
  | "run"
  /** Something goes to the network. `target` is the address, `taints` are those of what is sent. */
  | "send"
  /** A host's name is looked up; the name itself can carry data. */
  | "look-up"
  | "fetch"
  | "read"
  | "write"
  | "delete";

export interface Act {
  readonly kind: ActKind;
  readonly part: CodePart;
  /** Where it begins in the text of the part. */
  readonly at: number;
  /** As it is written. */
  readonly seen: string;
  readonly taints: Taints;
  /** The path, address or host; of a `run`, the resolved name of what executes. */
  readonly target?: string;
  /** Of a command: the program first, quotes removed, variables put in where they are known. */
  readonly words?: readonly string[];
  /** Of a `write`: what is written, where it is known. Of a `run`: the code, where it is known. */
  readonly content?: string;
  /** Of a `run`: the code was put together from pieces that hide what it is. */
  readonly isBuilt?: boolean;
  /** The name of what is called was itself put together. */
  readonly isHidden?: boolean;
}
