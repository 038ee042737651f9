/**
 * The just-bash backend: a shell that is interpreted in JavaScript and starts no program of the machine, for shell glue
 * where nothing else exists. Each command gets a process of its own, which Node's permission model holds to the folders
 * of the world and keeps from starting anything; it ends as every other process here does.
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
  /** An absolute path; without it only the watchdog looks. */
  readonly prlimit?: string | undefined;
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

function createJustBash({ shell, prlimit, advice }: JustBashParts): Sandbox {
  const noPrograms = `metier: this shell is interpreted (backend \`just-bash\`) and has commands of its own only; it starts no program of this machine. ${advice}`;
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

const FOR_TRUSTED =
  "just-bash is for trusted skills only, since its interpreter is no boundary of the system.";

/** Whether the interpreted shell can be used here, and for whom. */
export function probeJustBash(machine: SandboxMachine, trust: Trust): Promise<Probed> {
  if (!trustAllows(trust, "use-interpreted-shell"))
    return Promise.resolve(unavailable("just-bash", FOR_TRUSTED));
  return tryJustBash(machine);
}

const NEEDS_NODE = "just-bash is held by the permission model of Node.js, which Bun does not have.";

const tryJustBash = probeOnce(async ({ find }) => {
  if (process.platform === "win32") return unavailable("just-bash", "just-bash is not supported on win32.");
  if (process.versions.bun !== undefined) return unavailable("just-bash", NEEDS_NODE);
  const shell = await findShell();
  if (!shell)
    return unavailable("just-bash", "The program of just-bash is missing from this installation of Metier.");
  const prlimit = find("prlimit");
  const sandbox = createJustBash({ shell, advice: adviceFor(installCommand(find)), prlimit });
  const said = await tryOut(sandbox);
  if (said !== undefined) return unavailable("just-bash", `just-bash does not start: ${said}`);
  const reason =
    "an interpreted shell for trusted skills, with commands of its own; it starts no program of this machine.";
  return { sandbox, probe: { backend: "just-bash", available: true, reason } };
});

function adviceFor(installBubblewrap: string | undefined): string {
  if (process.platform !== "linux") return "`metier doctor` says how to have a sandbox that does.";
  const how = installBubblewrap === undefined ? "Install bubblewrap" : `Run \`${installBubblewrap}\``;
  return `${how} to have a sandbox that does.`;
}

interface ShellProgram {
  readonly file: string;
  /** What its process must be able to read in order to start. */
  readonly readable: readonly string[];
}

/** In the package: the source in a clone, the built one elsewhere. A bundle carries it with it. */
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
