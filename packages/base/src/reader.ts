/**
 * Who reads a message: whoever types commands, whoever writes a program, or whoever has uploaded a skill to a service. The
 * first is told commands and flags, the second options and calls, the third what the service itself offers. The command line
 * and the service say so once, for everything that happens under them; anything else is a program.
 */
import { AsyncLocalStorage } from "node:async_hooks";

type Reader = "command" | { readonly grant: string };

const reader = new AsyncLocalStorage<Reader>();

/** Everything that `act` says, at once or later, is for someone who types commands. */
export function onCommandLine<Value>(act: () => Value): Value {
  return reader.run("command", act);
}

/** Everything that `act` says is for someone who has uploaded a skill. `grant`: the request that trusts it. */
export function forUploader<Value>(grant: string, act: () => Value): Value {
  return reader.run({ grant }, act);
}

interface Words {
  readonly command: string;
  readonly program: string;
  /** Absent: as for a command line. */
  readonly upload?: (grant: string) => string;
}

/** The words for whoever reads them. */
export function forReader({ command, program, upload }: Words): string {
  const present = reader.getStore();
  if (present === undefined) return program;
  return present === "command" ? command : (upload?.(present.grant) ?? command);
}
