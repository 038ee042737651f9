/** What the command line answers to its caller. One table; nothing else picks a number. */
export const EXIT = {
  done: 0,
  /** The answer is no: invalid, differs, blocked, failed test, not found. */
  no: 1,
  /** Usage or config. */
  usage: 2,
  refused: 3,
  limited: 4,
  failed: 5,
  /** A prerequisite is missing: model, sandbox, git. */
  prerequisite: 6,
  cancelled: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
