/**
 * The just-bash backend: a shell that is interpreted in JavaScript and starts no program of the machine, for shell glue
 * where nothing else exists. Each command gets a process of its own, which Node's permission model holds to the folders
 * of the world and keeps from starting anything; it ends as every other process here does.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../host/places.ts";
import { refreshWorld } from "../build-world.ts";
import { whyNoCapabilities } from "../capability-socket.ts";
import { checkCommand, refuse } from "../check-command.ts";
import { minimalEnvironment } from "../minimal-environment.ts";
import { withRlimits } from "../rlimits.ts";
import { runProcess } from "../run-process.ts";
import type { CommandOutcome, Sandbox, SandboxLimits } from "../sandbox.ts";
import { ownFolders } from "../work-folders.ts";
import type { World } from "../world.ts";
import type { ShellProgram } from "./find-shell.ts";
import type { ShellRequest } from "./shell-request.ts";

export interface JustBashParts {
  readonly shell: ShellProgram;
  /** An absolute path; without it only the watchdog looks. */
  readonly prlimit?: string;
  /** How a sandbox that runs programs is had here, for whoever misses one. */
  readonly advice: string;
}

const MEGABYTE = 1024 * 1024;
/** Of the interpreter's own data; files in memory and output come on top. */
const DEFAULT_MEMORY_BYTES = 1024 * MEGABYTE;
/** What the shell may put out beyond what is kept, before that counts as a flood. */
const FLOOD_BYTES = 64 * MEGABYTE;
/** What `/proc` says about open descriptors, through which the path gate reaches files. */
const DESCRIPTORS = "/proc/self/fd/";

export function createJustBash({ shell, prlimit, advice }: JustBashParts): Sandbox {
  const noPrograms = `metier: this shell is interpreted (backend \`just-bash\`) and has commands of its own only; it starts no program of this machine. ${advice}`;
  return {
    backend: "just-bash",
    runsPrograms: false,
    async run(command) {
      const wrong = checkCommand(command);
      if (wrong !== undefined) return refuse(wrong);
      if (command.capabilitySocket !== undefined) return refuse(whyNoCapabilities("just-bash"));
      const { argv, stdin, signal, onOutput, limits } = command;
      const world = refreshWorld(command.world);
      const request: ShellRequest = {
        argv,
        world,
        cwd: command.cwd ?? world.cwd,
        env: { ...minimalEnvironment(world, { path: "/usr/bin:/bin", temporary: "/tmp" }), ...command.env },
        ...(limits.maxFileBytes !== undefined && { maxFileBytes: limits.maxFileBytes }),
        maxOutputBytes: 2 * limits.maxOutputBytes + FLOOD_BYTES,
        noPrograms,
      };
      const { maxFileBytes: _held, ...processLimits } = limits; // The shell itself holds it, and says so.
      const [program = process.execPath, ...args] = withRlimits(prlimit, processLimits, [
        process.execPath,
        ...nodeOptions(world, shell, limits),
        shell.file,
      ]);
      const outcome = await runProcess({
        program,
        args,
        env: {},
        cwd: "/",
        limits: processLimits,
        folders: ownFolders(world),
        handed: [JSON.stringify(request)],
        ...(stdin !== undefined && { stdin }),
        ...(signal && { signal }),
        ...(onOutput && { onOutput }),
      });
      return readOutcome(outcome);
    },
  };
}

function nodeOptions(
  world: World,
  shell: ShellProgram,
  { maxMemoryBytes }: SandboxLimits,
): readonly string[] {
  const allow = (what: "read" | "write", paths: readonly string[]): readonly string[] =>
    [DESCRIPTORS, ...outermost(paths).map(withContents)].map((path) => `--allow-fs-${what}=${path}`);
  const memory = Math.min(maxMemoryBytes ?? DEFAULT_MEMORY_BYTES, DEFAULT_MEMORY_BYTES);
  return [
    "--permission",
    ...allow("read", [...shell.readable, ...world.readable]),
    ...allow("write", world.writable),
    `--max-old-space-size=${Math.ceil(memory / MEGABYTE)}`,
    "--no-warnings",
  ];
}

/** A folder and one inside of it confuse Node, which then denies both. */
function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((folder) => folder !== path && isInside(path, folder)));
}

/** As the options mean it: a folder ends with a slash. */
function withContents(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, "/") : path;
}

/** The interpreter's own limits, and Node's end when its memory is full. */
const OWN_LIMIT = /^bash: (.*\bexceeded\b.*?)(?:, increase executionLimits\.\w+)?$/m;
const NO_MEMORY = /FATAL ERROR: .*(?:heap|memory)/i;

function readOutcome(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode, stderr } = outcome;
  const limit = ended === "exited" && exitCode === 126 ? OWN_LIMIT.exec(stderr) : undefined;
  if (limit)
    return { ...outcome, ended: "limit", reason: `It went beyond a limit of the shell: ${limit[1]}.` };
  if (ended === "signalled" && NO_MEMORY.test(stderr)) {
    return { ...outcome, ended: "limit", stderr: "", reason: "It used more memory than a command may." };
  }
  return outcome;
}
