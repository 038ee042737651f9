/** What was found when a sandbox was tried, and how `doctor` says it. */
import type { SandboxBackend } from "./sandbox.ts";

export interface SandboxProbe {
  readonly backend: SandboxBackend;
  readonly available: boolean;
  /** What was found, or why it does not hold. */
  readonly reason: string;
  /** The command that brings it, where it is known. */
  readonly remedy?: string;
}

/** One line for each probe, as `doctor` shows it. */
export function describeProbes(probes: readonly SandboxProbe[]): readonly string[] {
  return probes.map(({ backend, available, reason, remedy }) => {
    const help = remedy === undefined ? "" : ` Run \`${remedy}\`.`;
    return `${backend}: ${available ? "works" : "does not work"}; ${reason}${help}`;
  });
}
