/**
 * Who reads a message: someone who types commands, someone who writes a program, or someone who uploaded a skill to a
 * service. Hints name commands for the first, options for the second, and the service's requests for the third. The
 * command line and the service set this once for everything they do; the default is a program.
 */
import { AsyncLocalStorage } from "node:async_hooks";

type Reader = "command" | { readonly grant: string };

const reader = new AsyncLocalStorage<Reader>();

/** Everything `act` says, now or later, is for someone who types commands. */
export function onCommandLine<Value>(act: () => Value): Value {
  return reader.run("command", act);
}

/** Everything `act` says is for someone who uploaded a skill. `grant`: the request that trusts it. */
export function forUploader<Value>(grant: string, act: () => Value): Value {
  return reader.run({ grant }, act);
}

interface Words {
  readonly command: string;
  readonly program: string;
  /** Absent: same as for a command line. */
  readonly upload?: (grant: string) => string;
}

/** The text for the current reader. */
export function forReader({ command, program, upload }: Words): string {
  const present = reader.getStore();
  if (present === undefined) return program;
  return present === "command" ? command : (upload?.(present.grant) ?? command);
}
