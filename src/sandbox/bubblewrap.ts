/**
 * The bubblewrap backend: each command gets namespaces, mounts and limits of its own and ends with all its children, also
 * when Metier itself is killed. The environment reaches bubblewrap through a pipe, since command lines are public.
 */
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { buildProfile, sandboxIdentity } from "./bubblewrap-profile.ts";
import { refreshWorld } from "./build-world.ts";
import { checkCommand, refuse } from "./check-command.ts";
import { insideCommand } from "./inside-programs.ts";
import { holdPlaces } from "./placeholders.ts";
import { type BroughtPrograms, NO_PROGRAMS } from "./programs.ts";
import { withRlimits } from "./rlimits.ts";
import { type ProcessRequest, runProcess } from "./run-process.ts";
import type { CommandOutcome, Sandbox, SandboxCommand } from "./sandbox.ts";
import { buildSeccompFilter } from "./seccomp-filter.ts";
import { readSignal } from "./signal-exit.ts";
import { ownFolders } from "./work-folders.ts";
import type { World } from "./world.ts";

export interface BubblewrapParts {
  /** Absolute paths of the programs. */
  readonly bwrap: string;
  /** Sets limits on what one process may use; without it only the watchdog looks. */
  readonly prlimit?: string;
  /** Further programs that are found inside. */
  readonly programs?: BroughtPrograms;
}

/** Where a command sees the programs of the machine. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/nix/store"];

/** After the three standard streams. */
const ARGS_DESCRIPTOR = 3;

export type BubblewrapCall = Required<Pick<ProcessRequest, "program" | "args" | "handed">>;

/** How bubblewrap is called for a command; starts nothing. */
export function createBubblewrapCall({
  bwrap,
  prlimit,
  programs = NO_PROGRAMS,
}: BubblewrapParts): (world: World, command: SandboxCommand) => BubblewrapCall {
  const identity = sandboxIdentity();
  const seccomp = buildSeccompFilter();
  const limiter = seenInside(prlimit);
  const brought = { ...programs, files: { ...programs.files, node: process.execPath } };
  return (world, command) => {
    const parts = { command, world, identity, programs: brought, ...(seccomp && { seccomp }) };
    const { args, handed } = buildProfile(parts, ARGS_DESCRIPTOR + 1);
    const relay = command.egressSocket === undefined ? [] : [...insideCommand("metier-sb"), "relay", "--"];
    const started = withRlimits(limiter, command.limits, [...relay, ...command.argv], true);
    return {
      program: bwrap,
      args: ["--args", String(ARGS_DESCRIPTOR), "--", ...started],
      handed: [args.map((arg) => `${arg}\0`).join(""), ...handed],
    };
  };
}

export function createBubblewrap(parts: BubblewrapParts): Sandbox {
  const call = createBubblewrapCall(parts);

  const runIn = async (world: World, command: SandboxCommand): Promise<CommandOutcome> => {
    const { stdin, signal, onOutput, limits } = command;
    const outcome = await runProcess({
      ...call(world, command),
      env: {},
      cwd: "/",
      limits,
      folders: ownFolders(world),
      ...(stdin !== undefined && { stdin }),
      ...(signal && { signal }),
      ...(onOutput && { onOutput: withoutStarter(onOutput) }),
    });
    return readOutcome(outcome);
  };

  return {
    backend: "bubblewrap",
    runsPrograms: true,
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

/** A program's real path where a command finds it inside. */
function seenInside(program: string | undefined): string | undefined {
  const path = program === undefined ? undefined : realPathOr(program);
  return path !== undefined && SYSTEM.some((folder) => isInside(path, folder)) ? path : undefined;
}

/** Bubblewrap's own faults, and signals, as it passes them on; and `prlimit`'s about the command it is to start. */
const OWN_FAULT = /^bwrap: (.*)/;
const NO_PROGRAM = /^(?:bwrap: execvp|prlimit: failed to execute) (.*): (.*)/;

/** What the programs on the way to the command say of its absence is told with the outcome, in the words of a shell. */
function withoutStarter(tell: NonNullable<SandboxCommand["onOutput"]>): typeof tell {
  return (stream, chunk) => {
    const isStarter = stream === "stderr" && NO_PROGRAM.test(Buffer.from(chunk).toString("latin1"));
    if (!isStarter) tell(stream, chunk);
  };
}

function readOutcome(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode = 0, stderr, stdout } = outcome;
  if (ended !== "exited" || exitCode === 0) return outcome;
  const missing = NO_PROGRAM.exec(stderr);
  if (missing && stdout === "") {
    return { ...outcome, exitCode: exitCode === 126 ? 126 : 127, stderr: `${missing[1]}: ${missing[2]}\n` };
  }
  const fault = OWN_FAULT.exec(stderr);
  if (fault && stdout === "")
    return { ...outcome, ended: "refused", reason: `The sandbox cannot start: ${fault[1]}.` };
  return readSignal(outcome);
}
