/** What is known of a command's text once it was parsed: every program it starts, word for word, or that nothing is certain. */

/** One program with its words, quotes removed; the first word is the program. */
export type CommandWords = readonly string[];

export interface ProvableCommand {
  readonly provable: true;
  /** Every simple command of the text, in its order; at least one. */
  readonly commands: readonly CommandWords[];
  /** Literal targets of output redirections; `/dev/null` and descriptors are none. */
  readonly writes: readonly string[];
  /** Literal sources of input redirections. */
  readonly reads: readonly string[];
  /** The text is this one command and nothing else, so that it can be executed without a shell. */
  readonly argv?: CommandWords;
}

export interface UnprovableCommand {
  readonly provable: false;
  /** Begins in lower case, ends without a stop. */
  readonly reason: string;
}

export type ParsedCommand = ProvableCommand | UnprovableCommand;

export function unprovable(reason: string): UnprovableCommand {
  return { provable: false, reason };
}
