/**
 * The bubblewrap backend: each command gets its own namespaces, mounts and limits, and ends with all its children, even
 * if Metier is killed. The environment reaches bubblewrap through a pipe, since command lines are public.
 */
import { isInside, realPathOr } from "@metier/base/places";
import { insideCommand } from "../inside-programs.ts";
import {
  findHeldLimits,
  installCommand,
  kernelCommand,
  PROBE_COMMAND,
  PROBE_WORLD,
  probeOnce,
  tryOut,
  unavailable,
  works,
} from "../probe.ts";
import { mustHoldFromStart, withRlimits } from "../process/kernel-limits.ts";
import { readSignal } from "../process/process-output.ts";
import { type ProcessRequest, runProcess, type StartedAhead } from "../process/run-process.ts";
import { ownFolders } from "../process/work-folders.ts";
import { type BroughtPrograms, NO_PROGRAMS } from "../programs.ts";
import {
  type CommandOutcome,
  createSandbox,
  refuseCommand,
  type Sandbox,
  type SandboxCommand,
} from "../sandbox.ts";
import { refreshWorld } from "../world/build-world.ts";
import type { World } from "../world/world.ts";
import { type BaseParts, sandboxIdentity } from "./base-mounts.ts";
import { type HeldPlaces, holdPlaces } from "./held-places.ts";
import {
  ARGS_DESCRIPTOR,
  encodeArguments,
  type KeptAhead,
  keepAhead,
  makeSandbox,
  STARTER_NAME,
  sayStart,
  stampBase,
} from "./made-ahead.ts";
import { buildInner, buildProfile } from "./profile.ts";
import { buildSeccompFilter } from "./seccomp-filter.ts";

interface BubblewrapParts {
  /** Absolute paths of the programs. */
  readonly bwrap: string;
  /** Limits what one process may use; without it only the watchdog does. */
  readonly prlimit?: string | undefined;
  /** Extra programs available inside. */
  readonly programs?: BroughtPrograms;
}

/** Where a command sees the machine's programs. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/nix/store"];

type BubblewrapCall = Required<Pick<ProcessRequest, "program" | "args" | "handed">>;

/** How bubblewrap is called for a command; starts nothing. */
export function createBubblewrapCall(
  parts: BubblewrapParts,
): (world: World, command: SandboxCommand) => BubblewrapCall {
  const { base, seccomp } = readParts(parts);
  const limiter = seenInside(parts.prlimit);
  return (world, command) => {
    const { args, handed } = buildProfile({ ...base, command, world, seccomp }, ARGS_DESCRIPTOR + 1);
    return {
      program: parts.bwrap,
      args: [
        "--args",
        String(ARGS_DESCRIPTOR),
        "--",
        ...withRlimits(limiter, command.limits, wordsOf(command), true),
      ],
      handed: [encodeArguments(args), ...handed],
    };
  };
}

interface ReadParts {
  readonly base: BaseParts;
  readonly seccomp: Uint8Array | undefined;
}

function readParts({ programs = NO_PROGRAMS }: BubblewrapParts): ReadParts {
  const brought = { ...programs, files: { ...programs.files, node: process.execPath } };
  return { base: { identity: sandboxIdentity(), programs: brought }, seccomp: buildSeccompFilter() };
}

/** What starts a command inside. */
function wordsOf({ argv, egressSocket }: SandboxCommand): readonly string[] {
  return egressSocket === undefined ? argv : [...insideCommand("metier-sb"), "relay", "--", ...argv];
}

type StartedCall = BubblewrapCall & Pick<ProcessRequest, "ahead">;

interface KeptSandboxes extends Pick<KeptAhead, "makeNext"> {
  /** How a command starts in a prepared sandbox, if a suitable one exists. */
  call(world: World, command: SandboxCommand): StartedCall | undefined;
}

function keepSandboxes(parts: BubblewrapParts): KeptSandboxes {
  const { base, seccomp } = readParts(parts);
  const program = realPathOr(parts.bwrap);
  const callIn = (
    take: () => StartedAhead | undefined,
    world: World,
    command: SandboxCommand,
  ): StartedCall | undefined => {
    const said = command.stdin === undefined ? sayStart(wordsOf(command), command.limits) : undefined;
    const ahead = said && take();
    if (!ahead) return undefined;
    const told = { ...command, env: { ...command.env, ...said } };
    const { args, handed } = buildInner({ ...base, command: told, world, seccomp }, ARGS_DESCRIPTOR + 1);
    return { program, args: [], handed: [encodeArguments(args), ...handed], ahead };
  };
  const kept = keepAhead({
    make: (limits) => makeSandbox(program, base, seccomp !== undefined, limits),
    stamp: (limits) => stampBase(base, limits),
    works: async (made) => {
      const call = callIn(() => made, PROBE_WORLD, PROBE_COMMAND);
      const { limits } = PROBE_COMMAND;
      const outcome = call && (await runProcess({ ...call, env: {}, limits, isBackground: true }));
      return outcome?.exitCode === 0;
    },
  });
  return {
    call: (world, command) => callIn(() => kept.take(command.limits), world, command),
    makeNext: kept.makeNext,
  };
}

function createBubblewrap(parts: BubblewrapParts): Sandbox {
  const call = createBubblewrapCall(parts);
  const kept = keepSandboxes(parts);
  let running = 0;
  return createSandbox("bubblewrap", async (command) => {
    const seen = refreshWorld(command.world);
    let held: HeldPlaces | undefined;
    try {
      held = seen.protectedPaths.length === 0 ? undefined : holdPlaces(seen.protectedPaths);
    } catch (error) {
      return refuseCommand(`Protected paths cannot be secured: ${(error as Error).message}`);
    }
    const world = held ? { ...seen, masked: [...seen.masked, ...held.folders] } : seen;
    const { stdin, signal, onOutput, limits } = command;
    running += 1;
    try {
      const ended = runProcess({
        ...(kept.call(world, command) ?? { ...call(world, command), isHeld: mustHoldFromStart(limits) }),
        env: {},
        cwd: "/",
        limits,
        folders: ownFolders(world),
        stdin,
        signal,
        onOutput: onOutput && withoutStarter(onOutput),
      });
      if (running === 1) kept.makeNext(limits); // With several running, it would take the processor from them.
      return readOutcome(await ended);
    } finally {
      running -= 1;
      held?.release();
    }
  });
}

/** A program's real path as a command finds it inside. */
function seenInside(program: string | undefined): string | undefined {
  const path = program === undefined ? undefined : realPathOr(program);
  return path !== undefined && SYSTEM.some((folder) => isInside(path, folder)) ? path : undefined;
}

/** Errors of bubblewrap itself, and of the shell that cannot set its limits. */
const OWN_FAULT = new RegExp(`^(?:bwrap|${STARTER_NAME}: .*?ulimit): (.*)`);
/** The message for a command that cannot be started: from bubblewrap, `prlimit` or the shell in its place. */
const NO_PROGRAM = new RegExp(
  `^(?:bwrap: execvp |prlimit: failed to execute |${STARTER_NAME}: (?:line )?\\d+: (?:exec: )?)(?!ulimit:)(.*): (.*)`,
);

/** Reports a missing command as a shell does, instead of the messages of the programs in between. */
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
    const why = missing[2] === "not found" ? "No such file or directory" : missing[2];
    return { ...outcome, exitCode: exitCode === 126 ? 126 : 127, stderr: `${missing[1]}: ${why}\n` };
  }
  const fault = OWN_FAULT.exec(stderr);
  if (fault && stdout === "")
    return { ...outcome, ended: "refused", reason: `The sandbox cannot start: ${fault[1]}.` };
  return readSignal(outcome);
}

/** Whether it works on this machine, and how to get it if not. */
export const probeBubblewrap: ReturnType<typeof probeOnce> = probeOnce(async ({ find, programs }) => {
  if (process.platform !== "linux") {
    return unavailable("bubblewrap", `bubblewrap is not available for ${process.platform}.`);
  }
  const bwrap = find("bwrap");
  if (bwrap === undefined)
    return unavailable("bubblewrap", "bubblewrap is not installed.", installCommand(find));
  const prlimit = find("prlimit");
  const sandbox = createBubblewrap({ bwrap, programs, prlimit });
  const said = await tryOut(sandbox);
  if (said !== undefined) {
    const reason = `bubblewrap is installed but does not start: ${said} Metier needs version 0.8 or newer.`;
    return unavailable("bubblewrap", reason, kernelCommand());
  }
  return works(sandbox, `${bwrap}.`, findHeldLimits(prlimit !== undefined, true));
});
