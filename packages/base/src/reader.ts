/**
 * Who reads a message: whoever types commands, or whoever writes a program. The first is told commands and flags, the
 * second options and calls. The command line says so once, for everything that happens under it; anything else is a
 * program.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const commandLine = new AsyncLocalStorage<true>();

/** Everything that `act` says, at once or later, is for someone who types commands. */
export function onCommandLine<Value>(act: () => Value): Value {
  return commandLine.run(true, act);
}

/** The words for whoever reads them. */
export function forReader(words: { readonly command: string; readonly program: string }): string {
  return commandLine.getStore() ? words.command : words.program;
}
