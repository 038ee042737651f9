/** Limits that the kernel keeps for each process, put on a command by `prlimit` where the machine has it. */
import { availableParallelism } from "node:os";
import type { SandboxLimits } from "./sandbox.ts";

/** What a runtime such as Node's asks for and never touches. The watchdog counts what is used; this holds in between. */
const UNUSED_BYTES = 1024 * 1024 * 1024;

/** The command, started through `prlimit`; as it is without one. */
export function withRlimits(
  prlimit: string | undefined,
  limits: SandboxLimits,
  argv: readonly string[],
): readonly string[] {
  if (prlimit === undefined) return argv;
  const { timeoutMs, maxMemoryBytes, maxFileBytes } = limits;
  return [
    prlimit,
    "--core=0",
    // A backstop for when Metier itself is stopped and cannot end the command.
    `--cpu=${Math.ceil(timeoutMs / 1000) * availableParallelism() + 1}`,
    // Memory that can be written to, not address space, of which some programs reserve terabytes.
    ...(maxMemoryBytes === undefined ? [] : [`--data=${maxMemoryBytes + UNUSED_BYTES}`]),
    ...(maxFileBytes === undefined ? [] : [`--fsize=${maxFileBytes}`]),
    "--",
    ...argv,
  ];
}
