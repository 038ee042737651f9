/** Whether a command does no more than its first word says: the tables of this folder in one question. */
import { findRefusedInGit } from "./git-options.ts";
import { LAUNCHING_OPTIONS } from "./launching-options.ts";
import { findRefusedWord } from "./option-rule.ts";
import type { CommandWords } from "./parsed-command.ts";
import { findRefusedInSed } from "./sed-script.ts";
import { whyUnprovable } from "./unprovable-programs.ts";

/** Why it may start another program, load code or write a file; `undefined` when the tables know of nothing. */
export function checkProgram([program = "", ...args]: CommandWords): string | undefined {
  const name = programName(program);
  const why = whyUnprovable(name);
  if (why !== undefined) return `\`${program}\` ${why}`;
  const refused = findRefused(name, args);
  return refused === undefined
    ? undefined
    : `\`${refused}\` can make \`${program}\` start another program, load code or write a file`;
}

/** `/usr/bin/git` and `git.exe` are `git` to the tables. */
export function programName(program: string): string {
  const base = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  return base.endsWith(".exe") ? base.slice(0, -4) : base;
}

function findRefused(program: string, args: readonly string[]): string | undefined {
  if (program === "git") return findRefusedInGit(args);
  if (program === "sed" || program === "gsed") return findRefusedInSed(args);
  const rule = LAUNCHING_OPTIONS.get(program);
  return rule === undefined ? undefined : findRefusedWord(rule, args);
}
