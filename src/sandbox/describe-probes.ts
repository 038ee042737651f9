/** What was found when a sandbox was tried, and how `doctor` says it. */
import { describeHeldLimits, type HeldLimits } from "./held-limits.ts";
import type { SandboxBackend } from "./sandbox.ts";

export interface SandboxProbe {
  readonly backend: SandboxBackend;
  readonly available: boolean;
  /** What was found, or why it does not hold. */
  readonly reason: string;
  /** The command that brings it, where it is known. */
  readonly remedy?: string;
  /** Of one that works and starts programs of the machine. */
  readonly limits?: HeldLimits;
}

/** The lines of `doctor` about the probes. */
export function describeProbes(probes: readonly SandboxProbe[]): readonly string[] {
  return probes.flatMap(({ backend, available, reason, remedy, limits }) => {
    const help = remedy === undefined ? "" : ` Run \`${remedy}\`.`;
    const line = `${backend}: ${available ? "works" : "does not work"}; ${reason}${help}`;
    return limits === undefined ? [line] : [line, `limits of ${backend}: ${describeHeldLimits(limits)}`];
  });
}
