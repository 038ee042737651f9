/**
 * The just-bash backend: a shell interpreted in JavaScript that starts no program of the machine, for shell glue where
 * nothing else is available. Each command gets its own process, which Node's permission model restricts to the world's
 * folders and prevents from starting anything; it ends like every other process here.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { layOutCarried, packageFolder, runsFromSources } from "@metier/base/files";
import { isInside } from "@metier/base/places";
import type { Trust } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import {
  installCommand,
  type Probed,
  probeOnce,
  type SandboxMachine,
  tryOut,
  unavailable,
} from "../probe.ts";
import { withRlimits } from "../process/kernel-limits.ts";
import { runProcess } from "../process/run-process.ts";
import { ownFolders } from "../process/work-folders.ts";
import {
  type CommandOutcome,
  createSandbox,
  minimalEnvironment,
  type Sandbox,
  type SandboxLimits,
} from "../sandbox.ts";
import { refreshWorld } from "../world/build-world.ts";
import type { World } from "../world/world.ts";
import type { ShellRequest } from "./shell.ts";

interface JustBashParts {
  readonly shell: ShellProgram;
  /** An absolute path; without it only the watchdog enforces limits. */
  readonly prlimit?: string | undefined;
  /** How to get a sandbox that runs programs here. */
  readonly advice: string;
}

const MEGABYTE = 1024 * 1024;
/** For the interpreter's own data; files in memory and output come on top. */
const DEFAULT_MEMORY_BYTES = 1024 * MEGABYTE;
/** How much the shell may write beyond what is kept before it counts as a flood. */
const FLOOD_BYTES = 64 * MEGABYTE;
/** What `/proc` says about open descriptors, through which the path gate reaches files. */
const DESCRIPTORS = "/proc/self/fd/";

function createJustBash({ shell, prlimit, advice }: JustBashParts): Sandbox {
  const noPrograms = `metier: this shell is interpreted (backend \`just-bash\`) and has only built-in commands; it cannot start programs of this machine. ${advice}`;
  return createSandbox("just-bash", async (command) => {
    const { argv, stdin, signal, onOutput, limits } = command;
    const world = refreshWorld(command.world);
    const request: ShellRequest = {
      argv,
      world,
      cwd: command.cwd ?? world.cwd,
      env: { ...minimalEnvironment(world, { path: "/usr/bin:/bin", temporary: "/tmp" }), ...command.env },
      maxFileBytes: limits.maxFileBytes,
      maxOutputBytes: 2 * limits.maxOutputBytes + FLOOD_BYTES,
      noPrograms,
    };
    const { maxFileBytes: _held, ...processLimits } = limits; // The shell enforces it and reports it.
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
      stdin,
      signal,
      onOutput,
    });
    return readOutcome(outcome);
  });
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

/** A folder together with one inside it confuses Node, which then denies both. */
function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((folder) => folder !== path && isInside(path, folder)));
}

/** As the options expect: a folder ends with a slash. */
function withContents(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, "/") : path;
}

/** The interpreter's own limits, and Node's exit when its memory is full. */
const OWN_LIMIT = /^bash: (.*\bexceeded\b.*?)(?:, increase executionLimits\.\w+)?$/m;
const NO_MEMORY = /FATAL ERROR: .*(?:heap|memory)/i;

function readOutcome(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode, stderr } = outcome;
  const limit = ended === "exited" && exitCode === 126 ? OWN_LIMIT.exec(stderr) : undefined;
  if (limit) return { ...outcome, ended: "limit", reason: `It exceeded a limit of the shell: ${limit[1]}.` };
  if (ended === "signalled" && NO_MEMORY.test(stderr)) {
    return { ...outcome, ended: "limit", stderr: "", reason: "It used more memory than a command may use." };
  }
  return outcome;
}

const FOR_TRUSTED = "just-bash is for trusted skills only, because its interpreter is not a system boundary.";

/** Whether the interpreted shell can be used here, and for whom. */
export function probeJustBash(machine: SandboxMachine, trust: Trust): Promise<Probed> {
  if (!trustAllows(trust, "use-interpreted-shell"))
    return Promise.resolve(unavailable("just-bash", FOR_TRUSTED));
  return tryJustBash(machine);
}

const NEEDS_NODE = "just-bash relies on the permission model of Node.js, which Bun does not have.";

const tryJustBash = probeOnce(async ({ find }) => {
  if (process.platform === "win32") return unavailable("just-bash", "just-bash is not supported on win32.");
  if (process.versions.bun !== undefined) return unavailable("just-bash", NEEDS_NODE);
  const shell = await findShell();
  if (!shell)
    return unavailable("just-bash", "The just-bash program is missing from this Metier installation.");
  const prlimit = find("prlimit");
  const sandbox = createJustBash({ shell, advice: adviceFor(installCommand(find)), prlimit });
  const said = await tryOut(sandbox);
  if (said !== undefined) return unavailable("just-bash", `just-bash does not start: ${said}`);
  const reason =
    "an interpreted shell for trusted skills with built-in commands; it cannot start programs of this machine.";
  return { sandbox, probe: { backend: "just-bash", available: true, reason } };
});

function adviceFor(installBubblewrap: string | undefined): string {
  if (process.platform !== "linux") return "See how to get a sandbox that can with `metier doctor`.";
  const how = installBubblewrap === undefined ? "Install bubblewrap" : `Run \`${installBubblewrap}\``;
  return `${how} to get a sandbox that can.`;
}

interface ShellProgram {
  readonly file: string;
  /** What its process must be able to read to start. */
  readonly readable: readonly string[];
}

/** In the package: the source in a clone, otherwise the built file. A bundle carries it. */
async function findShell(): Promise<ShellProgram | undefined> {
  const root = packageFolder();
  if (root !== undefined && runsFromSources()) {
    return {
      file: join(root, "../sandbox/src/sandbox/just-bash/shell.ts"),
      readable: ["packages", "node_modules", "package.json"].map((name) => join(root, "../..", name)),
    };
  }
  const folder = root === undefined ? await layOutShell() : join(root, "dist", "just-bash");
  const file = join(folder, "shell.mjs");
  return existsSync(file) ? { file, readable: [folder] } : undefined;
}

async function layOutShell(): Promise<string> {
  const { CARRIED_SHELL } = await import("./carried-shell.ts");
  return layOutCarried("shell", CARRIED_SHELL);
}
