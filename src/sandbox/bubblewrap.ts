/**
 * The bubblewrap backend: each command gets namespaces, mounts and limits of its own and ends with all its children, also
 * when Metier itself is killed. The environment reaches bubblewrap through a pipe, since command lines are public.
 */
import { constants } from "node:os";
import { buildProfile, sandboxIdentity } from "./bubblewrap-profile.ts";
import { refreshWorld } from "./build-world.ts";
import { checkCommand, refuse } from "./check-command.ts";
import { holdPlaces } from "./placeholders.ts";
import { withRlimits } from "./rlimits.ts";
import { runProcess } from "./run-process.ts";
import type { CommandOutcome, Sandbox, SandboxCommand } from "./sandbox.ts";
import { buildSeccompFilter } from "./seccomp-filter.ts";
import type { World } from "./world.ts";

export interface BubblewrapParts {
  /** Absolute paths of the programs. */
  readonly bwrap: string;
  /** Sets limits on what one process may use; without it only the watchdog looks. */
  readonly prlimit?: string;
  /** Further programs that are found inside, by name. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** After the three standard streams. */
const ARGS_DESCRIPTOR = 3;

export function createBubblewrap({ bwrap, prlimit, programs = {} }: BubblewrapParts): Sandbox {
  const identity = sandboxIdentity();
  const seccomp = buildSeccompFilter();
  const brought = { ...programs, node: process.execPath };

  const runIn = async (world: World, command: SandboxCommand): Promise<CommandOutcome> => {
    const parts = { command, world, identity, programs: brought, ...(seccomp && { seccomp }) };
    const { args, handed } = buildProfile(parts, ARGS_DESCRIPTOR + 1);
    const inner = [bwrap, "--args", String(ARGS_DESCRIPTOR), "--", ...command.argv];
    const [program = bwrap, ...rest] = withRlimits(prlimit, command.limits, inner);
    const { stdin, signal, onOutput, limits } = command;
    const outcome = await runProcess({
      program,
      args: rest,
      env: {},
      cwd: "/",
      limits,
      handed: [args.map((arg) => `${arg}\0`).join(""), ...handed],
      ...(stdin !== undefined && { stdin }),
      ...(signal && { signal }),
      ...(onOutput && { onOutput }),
    });
    return readOutcome(outcome);
  };

  return {
    backend: "bubblewrap",
    async run(command) {
      const wrong = checkCommand(command);
      if (wrong !== undefined) return refuse(wrong);
      const world = refreshWorld(command.world);
      if (world.protectedPaths.length === 0) return runIn(world, command);
      let held: ReturnType<typeof holdPlaces>;
      try {
        held = holdPlaces(world.protectedPaths);
      } catch (error) {
        return refuse(`Protected paths cannot be held: ${(error as Error).message}`);
      }
      try {
        return await runIn({ ...world, masked: [...world.masked, ...held.folders] }, command);
      } finally {
        held.release();
      }
    },
  };
}

/** Bubblewrap's own faults, and signals, as it passes them on. */
const OWN_FAULT = /^bwrap: (.*)/;
const NO_PROGRAM = /^bwrap: execvp (.*): (.*)/;
const FIRST_SIGNAL_CODE = 128;

function readOutcome(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode = 0, stderr, stdout } = outcome;
  if (ended !== "exited" || exitCode === 0) return outcome;
  const missing = NO_PROGRAM.exec(stderr);
  if (missing && stdout === "") {
    return { ...outcome, exitCode: 127, stderr: `${missing[1]}: ${missing[2]}\n` };
  }
  const fault = OWN_FAULT.exec(stderr);
  if (fault && stdout === "")
    return { ...outcome, ended: "refused", reason: `The sandbox cannot start: ${fault[1]}.` };
  const signal = signalNames.get(exitCode - FIRST_SIGNAL_CODE);
  return signal === undefined ? outcome : { ...outcome, ended: "signalled", signal };
}

const signalNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);
