/**
 * Whether a scope covers a simple command. An allowing rule must be proven, a denying one holds unless it is proven that
 * it does not match. Every simple command of a text is held against the rules; `tool-policy.ts` does so.
 */
import { checkProgram, programName } from "./check-program.ts";
import type { CommandScope } from "./command-scope.ts";
import type { CommandWords } from "./parsed-command.ts";

/** `undefined` when the scope covers the command. */
export function whyNotCovered(words: CommandWords, scope: CommandScope): string | undefined {
  if (!hasWordsOf(words, scope)) return `\`${words.join(" ")}\` matches no pattern`;
  return checkProgram(words);
}

function hasWordsOf(words: CommandWords, { words: wanted, isOpen }: CommandScope): boolean {
  const fits = isOpen ? words.length >= wanted.length : words.length === wanted.length;
  return fits && wanted.every((word, index) => words[index] === word);
}

/**
 * Whether a denying scope may be meant. The program counts by its last path segment; what follows counts in any
 * place, since options may stand between; and where the pattern has an option, any option may be another spelling of
 * it. A command that may start others may start this one.
 */
export function mayMatchCommand(words: CommandWords, scope: CommandScope): boolean {
  if (checkProgram(words) !== undefined) return true;
  const [program = "", ...wanted] = scope.words;
  const [started = "", ...given] = words;
  if (programName(started) !== programName(program)) return false;
  return scope.isOpen ? areAmong(wanted, given) : isSame(wanted, given);
}

function areAmong(wanted: readonly string[], given: readonly string[]): boolean {
  const hasOptions = given.some((word) => word.startsWith("-"));
  return wanted.every((word) => given.includes(word) || (word.startsWith("-") && hasOptions));
}

function isSame(wanted: readonly string[], given: readonly string[]): boolean {
  return wanted.length === given.length && wanted.every((word, index) => given[index] === word);
}
