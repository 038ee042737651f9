/** A command that ended by a signal, where a program around it says so by its exit code, as shells do. */
import { constants } from "node:os";
import type { CommandOutcome } from "./sandbox.ts";

const FIRST_SIGNAL_CODE = 128;

const signalNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

export function readSignal(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode = 0 } = outcome;
  const signal = ended === "exited" ? signalNames.get(exitCode - FIRST_SIGNAL_CODE) : undefined;
  return signal === undefined ? outcome : { ...outcome, ended: "signalled", signal };
}
