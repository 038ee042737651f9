/**
 * The bubblewrap backend: each command gets namespaces, mounts and limits of its own and ends with all its children, also
 * when Metier itself is killed. The environment reaches bubblewrap through a pipe, since command lines are public.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isInside, realPathOr } from "@metier/base/places";
import { isAlive } from "@metier/base/programs";
import { insideCommand } from "../inside-programs.ts";
import {
  findHeldLimits,
  installCommand,
  kernelCommand,
  probeOnce,
  tryOut,
  unavailable,
  works,
} from "../probe.ts";
import { mustHoldFromStart, withRlimits } from "../process/kernel-limits.ts";
import { readSignal } from "../process/process-output.ts";
import { type ProcessRequest, runProcess } from "../process/run-process.ts";
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
import { HARMLESS_FILES } from "../world/private-places.ts";
import type { World } from "../world/world.ts";
import { buildProfile, sandboxIdentity } from "./profile.ts";
import { buildSeccompFilter } from "./seccomp-filter.ts";

interface BubblewrapParts {
  /** Absolute paths of the programs. */
  readonly bwrap: string;
  /** Sets limits on what one process may use; without it only the watchdog looks. */
  readonly prlimit?: string | undefined;
  /** Further programs that are found inside. */
  readonly programs?: BroughtPrograms;
}

/** Where a command sees the programs of the machine. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/nix/store"];

/** After the three standard streams. */
const ARGS_DESCRIPTOR = 3;

type BubblewrapCall = Required<Pick<ProcessRequest, "program" | "args" | "handed">>;

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
    const parts = { command, world, identity, programs: brought, seccomp };
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

function createBubblewrap(parts: BubblewrapParts): Sandbox {
  const call = createBubblewrapCall(parts);
  return createSandbox("bubblewrap", async (command) => {
    const seen = refreshWorld(command.world);
    let held: ReturnType<typeof holdPlaces> | undefined;
    try {
      held = seen.protectedPaths.length === 0 ? undefined : holdPlaces(seen.protectedPaths);
    } catch (error) {
      return refuseCommand(`Protected paths cannot be held: ${(error as Error).message}`);
    }
    const world = held ? { ...seen, masked: [...seen.masked, ...held.folders] } : seen;
    const { stdin, signal, onOutput, limits } = command;
    try {
      const outcome = await runProcess({
        ...call(world, command),
        isHeld: mustHoldFromStart(limits),
        env: {},
        cwd: "/",
        limits,
        folders: ownFolders(world),
        stdin,
        signal,
        onOutput: onOutput && withoutStarter(onOutput),
      });
      return readOutcome(outcome);
    } finally {
      held?.release();
    }
  });
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

/** Whether it holds on this machine, and what brings it where it does not. */
export const probeBubblewrap: ReturnType<typeof probeOnce> = probeOnce(async ({ find, programs }) => {
  if (process.platform !== "linux") {
    return unavailable("bubblewrap", `bubblewrap does not exist for ${process.platform}.`);
  }
  const bwrap = find("bwrap");
  if (bwrap === undefined)
    return unavailable("bubblewrap", "bubblewrap is not installed.", installCommand(find));
  const prlimit = find("prlimit");
  const sandbox = createBubblewrap({ bwrap, programs, prlimit });
  const said = await tryOut(sandbox);
  if (said !== undefined) {
    const reason = `bubblewrap is installed but does not start: ${said} Version 0.8 or newer is needed.`;
    return unavailable("bubblewrap", reason, kernelCommand());
  }
  return works(sandbox, `${bwrap}.`, findHeldLimits(prlimit !== undefined, true));
});

/*
 * Keeps protected paths that do not exist from being made during a command: something harmless stands there meanwhile,
 * which the sandbox mounts read-only. In a folder each user leaves a mark, so that commands of several processes can
 * share it, and the last of them removes it; marks of dead processes do not count.
 */

interface HeldPlaces {
  /** The folders that were made: nothing of the user's lies there, and a run must not see what does. */
  readonly folders: readonly string[];
  release(): void;
}

/** Holds those of `paths` where nothing of the user's lies. */
export function holdPlaces(paths: readonly string[]): HeldPlaces {
  const mark = `metier-hold-${process.pid}-${randomUUID()}`;
  const folders: string[] = [];
  const files: string[] = [];
  const release = (): void => {
    for (const path of folders) leaveFolder(path, mark);
    for (const path of files) leaveFile(path);
  };
  try {
    for (const path of paths) {
      const content = HARMLESS_FILES[basename(path)];
      if (content === undefined ? holdFolder(path, mark) : holdFile(path, content)) {
        (content === undefined ? folders : files).push(path);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
  return { folders, release };
}

const MARK = /metier-hold-(\d+)-/;
/** Another process may remove what we are about to use once or twice, but not for ever. */
const ATTEMPTS = 20;

/** The marks lie in the folder: it can be removed only when there are none, so no lock is needed. */
function holdFolder(path: string, mark: string): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (!isFreeForFolder(path)) return false;
    try {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, mark), "", { flag: "wx" });
      return true;
    } catch (error) {
      // Between the two steps the last of the others removed it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error(`\`${path}\` is made and removed again and again by another process.`);
}

/** Whether nothing is there, or a folder that only Metier holds. An empty one may be the user's. */
function isFreeForFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found === undefined;
  const names = readdirSync(path);
  return names.length > 0 && names.every((name) => MARK.test(name));
}

function leaveFolder(path: string, mark: string): void {
  rmSync(join(path, mark), { force: true });
  try {
    for (const name of readdirSync(path)) if (isAbandoned(name)) rmSync(join(path, name), { force: true });
    rmdirSync(path);
  } catch {
    // Someone else holds it still, or put something there.
  }
}

/** How many commands of this process use a file. */
const users = new Map<string, number>();

/** A file that holds a place already, whoever made it, means nothing to anyone and counts as ours. */
function holdFile(path: string, content: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !(found.isFile() && readFileSync(path, "utf8") === content)) return false;
  if (!found) writeFileSync(path, content, { flag: "wx" });
  users.set(path, (users.get(path) ?? 0) + 1);
  return true;
}

/** Whatever stands there now, nothing of the user's did when it was held. */
function leaveFile(path: string): void {
  const left = (users.get(path) ?? 1) - 1;
  if (left > 0) users.set(path, left);
  else {
    users.delete(path);
    rmSync(path, { force: true });
  }
}

function isAbandoned(name: string): boolean {
  const pid = Number(MARK.exec(name)?.[1]);
  return pid > 0 && !isAlive(pid);
}
