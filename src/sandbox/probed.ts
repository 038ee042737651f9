/** What trying a backend takes and gives. */
import type { Environment } from "../host/find-command.ts";
import type { SandboxProbe } from "./describe-probes.ts";
import type { BroughtPrograms } from "./programs.ts";
import type { Sandbox, SandboxBackend, SandboxLimits } from "./sandbox.ts";
import type { World } from "./world.ts";

/** What a sandbox is made from here. */
export interface Machine {
  readonly environment: Environment;
  readonly programs: BroughtPrograms;
}

export interface Probed {
  readonly probe: SandboxProbe;
  readonly sandbox?: Sandbox;
}

export function unavailable(backend: SandboxBackend, reason: string, remedy?: string): Probed {
  return { probe: { backend, available: false, reason, ...(remedy !== undefined && { remedy }) } };
}

/** Something that every machine has, and nothing of the user's. */
export const PROBE_WORLD: World = {
  cwd: "/usr",
  workDir: "/usr",
  readable: ["/usr"],
  writable: [],
  masked: [],
  protectedPaths: [],
};

export const PROBE_LIMITS: SandboxLimits = { timeoutMs: 10_000, maxOutputBytes: 4096 };

/** Really starts something. What went wrong, or nothing. */
export async function tryOut(sandbox: Sandbox): Promise<string | undefined> {
  const outcome = await sandbox.run({ argv: ["true"], world: PROBE_WORLD, env: {}, limits: PROBE_LIMITS });
  if (outcome.exitCode === 0) return undefined;
  return outcome.reason ?? outcome.stderr.split("\n")[0] ?? outcome.ended;
}

/** A machine does not change while we run: each PATH is tried once, with each set of programs. */
export function probeOnce(
  attempt: (machine: Machine) => Promise<Probed>,
): (machine: Machine) => Promise<Probed> {
  const known = new Map<string, Promise<Probed>>();
  return (machine) => {
    const { files, folders } = machine.programs;
    const key = JSON.stringify([machine.environment.PATH, files, folders]);
    const probed = known.get(key) ?? attempt(machine);
    known.set(key, probed);
    return probed;
  };
}
