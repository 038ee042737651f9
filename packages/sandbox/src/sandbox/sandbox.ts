/**
 * The contract every sandbox backend keeps, and what all of them do alike with a command. A backend that cannot hold a part
 * of the policy refuses; it never runs anyway.
 */
import type { Readable } from "node:stream";
import { presentFields } from "@metier/base/json";
import { isInWorld, type World } from "./world/world.ts";

/** What confines the commands of a run. `none` confines nothing. */
export type SandboxBackend = "bubblewrap" | "sandbox-runtime" | "just-bash" | "none";

/** How much one command may use. A limit that is absent does not apply. */
export interface SandboxLimits {
  /** Milliseconds until the command is ended. */
  readonly timeoutMs: number;
  /** Of each stream that is kept; what comes after it is dropped and said so. */
  readonly maxOutputBytes: number;
  /** Processes of the command at the same time. */
  readonly maxProcesses?: number;
  /** Memory of all processes of the command together. */
  readonly maxMemoryBytes?: number;
  /** Size of each file that it writes. */
  readonly maxFileBytes?: number;
  /** Of everything in the work folder together. */
  readonly maxWorkBytes?: number;
}

/** A command to run in a sandbox, and what it gets. */
export interface SandboxCommand {
  /** Executed as it is, without a shell; `["bash", "-c", text]` is how a shell is asked for. */
  readonly argv: readonly string[];
  /** What the command sees of the machine, and what it may change. */
  readonly world: World;
  /** Default: the world's own. */
  readonly cwd?: string;
  /** On top of the minimal environment that the backend makes; nothing of the parent's environment gets in. */
  readonly env: Readonly<Record<string, string>>;
  /** A stream is passed on as it comes, for a process that is talked to while it runs. */
  readonly stdin?: string | Readable;
  /**
   * A Unix socket of the allow-list proxy (`src/egress`): with it the command reaches granted domains through the usual
   * proxy variables, and nothing else. Without it there is no network at all.
   */
  readonly egressSocket?: string;
  /**
   * A Unix socket of the capabilities (`src/capabilities`): with it `metier-sb capability` works, and answers as `ash-sb`
   * too. Where it is seen: `seenCapabilitySocket`; a backend that cannot show it refuses the command.
   */
  readonly capabilitySocket?: string;
  /** A command that exceeds one is ended. */
  readonly limits: SandboxLimits;
  /** Ends the whole process tree. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each piece of output as it comes. */
  onOutput?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
}

/** How a command ended, and what it wrote. */
export interface CommandOutcome {
  /** `limit`: it exceeded one. `refused`: it was not started. */
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** Of a command that ended by a signal, 128 and the signal's number, as shells have it. */
  readonly exitCode?: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  readonly signal?: string;
  /** At most `maxOutputBytes`. */
  readonly stdout: string;
  /** At most `maxOutputBytes`. */
  readonly stderr: string;
  /** Bytes that did not fit `maxOutputBytes`, of both streams together. */
  readonly droppedBytes: number;
  /** Milliseconds from start to end. */
  readonly durationMs: number;
  /** For `limit` and `refused`: which, in one sentence. */
  readonly reason?: string;
}

/** Runs commands with one backend. */
export interface Sandbox {
  /** The backend that runs the commands. */
  readonly backend: SandboxBackend;
  /** Whether it starts programs of the machine (python3, node, git). `false`: a shell with commands of its own, no more. */
  readonly runsPrograms: boolean;
  /** Runs a command to its end. A command that fails or is refused is an outcome, not an exception. */
  run(command: SandboxCommand): Promise<CommandOutcome>;
}

const REACHING_SOCKETS: readonly SandboxBackend[] = ["bubblewrap", "none"];
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A backend that is given only what no backend refuses. */
export function createSandbox(backend: SandboxBackend, run: Sandbox["run"]): Sandbox {
  return {
    backend,
    runsPrograms: backend !== "just-bash",
    async run(command) {
      const wrong = whyRefused(backend, command);
      const outcome = wrong === undefined ? await run(command) : refuseCommand(wrong);
      commands[outcome.ended === "refused" ? "refused" : "started"] += 1;
      return outcome;
    },
  };
}

const commands = { started: 0, refused: 0 };

/** How many commands sandboxes of this process have run, and how many they did not start. */
export function countCommands(): Readonly<typeof commands> {
  return { ...commands };
}

function whyRefused(
  backend: SandboxBackend,
  { argv, env, cwd, world, capabilitySocket }: SandboxCommand,
): string | undefined {
  if (argv.length === 0 || argv[0] === "") return "There is no command.";
  if (argv.some((word) => word.includes("\0")))
    return "The command has a NUL character, which no program can be given.";
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE_NAME.test(name)) return `\`${name}\` is no name for a variable.`;
    if (value.includes("\0"))
      return `The variable \`${name}\` has a NUL character, which no program can be given.`;
  }
  if (cwd !== undefined && !isInWorld(world, cwd)) return `\`${cwd}\` is not in the world of this run.`;
  if (capabilitySocket !== undefined && !REACHING_SOCKETS.includes(backend)) {
    return `Commands of the backend \`${backend}\` reach no socket, so none of them can have capabilities: use the backend \`bubblewrap\`.`;
  }
  return undefined;
}

export function refuseCommand(reason: string): CommandOutcome {
  return { ended: "refused", stdout: "", stderr: "", droppedBytes: 0, durationMs: 0, reason };
}

/** The variables every process of a run gets, sandboxed or not. Nothing of Metier's own environment is among them. */
export function minimalEnvironment(
  world: World,
  { path, temporary }: { readonly path: string; readonly temporary: string },
): Record<string, string> {
  const { workDir, skillDir, dataDir } = world;
  return {
    PATH: path,
    HOME: workDir,
    LANG: "C.UTF-8",
    TERM: "dumb",
    TMPDIR: temporary,
    METIER_WORK_DIR: workDir,
    ...presentFields({ METIER_SKILL_DIR: skillDir, METIER_DATA_DIR: dataDir }),
    ...placedVariables(world),
  };
}

/** Variables by which programs find placed folders. */
function placedVariables({ placed = [] }: World): Readonly<Record<string, string>> {
  return Object.fromEntries(placed.flatMap(({ at, variable }) => (variable ? [[variable, at]] : [])));
}

/** A word as a POSIX shell reads it back. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
