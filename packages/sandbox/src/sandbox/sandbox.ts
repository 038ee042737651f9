/**
 * The contract of every sandbox backend, and what all of them do with a command. A backend that cannot enforce part of
 * the policy refuses the command.
 */
import type { Readable } from "node:stream";
import { presentFields } from "@metier/base/json";
import { isInWorld, type World } from "./world/world.ts";

/** What confines the commands of a run. `none` confines nothing. */
export type SandboxBackend = "bubblewrap" | "sandbox-runtime" | "just-bash" | "none";

/** How much one command may use. An absent limit does not apply. */
export interface SandboxLimits {
  /** Milliseconds until the command is stopped. */
  readonly timeoutMs: number;
  /** Bytes kept per stream; the rest is dropped and counted. */
  readonly maxOutputBytes: number;
  /** Simultaneous processes of the command. */
  readonly maxProcesses?: number;
  /** Memory of all the command's processes together. */
  readonly maxMemoryBytes?: number;
  /** Size of each file it writes. */
  readonly maxFileBytes?: number;
  /** Total size of the work folder. */
  readonly maxWorkBytes?: number;
}

/** A command to run in a sandbox, and what it gets. */
export interface SandboxCommand {
  /** Executed directly, without a shell; use `["bash", "-c", text]` for a shell. */
  readonly argv: readonly string[];
  /** What the command can see and change on the machine. */
  readonly world: World;
  /** Default: the world's own. */
  readonly cwd?: string;
  /** Added to the backend's minimal environment; nothing is inherited from the parent. */
  readonly env: Readonly<Record<string, string>>;
  /** A stream is forwarded as it arrives, for a process that is talked to while it runs. */
  readonly stdin?: string | Readable;
  /**
   * A Unix socket of the allow-list proxy (`src/egress`): with it the command reaches only granted domains, through the
   * usual proxy variables. Without it there is no network.
   */
  readonly egressSocket?: string;
  /**
   * A Unix socket of the capabilities (`src/capabilities`): with it `metier-sb capability` works, also as `ash-sb`.
   * `seenCapabilitySocket` says where it appears; a backend that cannot show it refuses the command.
   */
  readonly capabilitySocket?: string;
  /** A command that exceeds one is stopped. */
  readonly limits: SandboxLimits;
  /** Stops the whole process tree. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each piece of output as it arrives. */
  onOutput?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
}

/** How a command ended, and what it wrote. */
export interface CommandOutcome {
  /** `limit`: it exceeded one. `refused`: it was not started. */
  readonly ended: "exited" | "signalled" | "timeout" | "cancelled" | "limit" | "refused";
  /** For a command ended by a signal, 128 plus the signal's number, as in shells. */
  readonly exitCode?: number;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  readonly signal?: string;
  /** At most `maxOutputBytes`. */
  readonly stdout: string;
  /** At most `maxOutputBytes`. */
  readonly stderr: string;
  /** Bytes of both streams that did not fit `maxOutputBytes`. */
  readonly droppedBytes: number;
  /** Milliseconds from start to end. */
  readonly durationMs: number;
  /** For `limit` and `refused`: the reason, in one sentence. */
  readonly reason?: string;
}

/** Runs commands with one backend. */
export interface Sandbox {
  /** The backend that runs the commands. */
  readonly backend: SandboxBackend;
  /** Whether it starts programs of the machine (python3, node, git). `false`: a shell with only built-in commands. */
  readonly runsPrograms: boolean;
  /** Runs a command to its end. A failed or refused command is an outcome, not an exception. */
  run(command: SandboxCommand): Promise<CommandOutcome>;
}

const REACHING_SOCKETS: readonly SandboxBackend[] = ["bubblewrap", "none"];
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A backend that gets only what no backend refuses. */
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

/** How many commands this process's sandboxes have run, and how many they refused to start. */
export function countCommands(): Readonly<typeof commands> {
  return { ...commands };
}

function whyRefused(
  backend: SandboxBackend,
  { argv, env, cwd, world, capabilitySocket }: SandboxCommand,
): string | undefined {
  if (argv.length === 0 || argv[0] === "") return "The command is empty.";
  if (argv.some((word) => word.includes("\0")))
    return "The command contains a NUL character, which no program accepts.";
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE_NAME.test(name)) return `\`${name}\` is not a valid variable name.`;
    if (value.includes("\0"))
      return `The variable \`${name}\` contains a NUL character, which no program accepts.`;
  }
  if (cwd !== undefined && !isInWorld(world, cwd)) return `\`${cwd}\` is not visible to this run.`;
  if (capabilitySocket !== undefined && !REACHING_SOCKETS.includes(backend)) {
    return `Commands of the backend \`${backend}\` cannot reach sockets, so they have no capabilities: use the backend \`bubblewrap\`.`;
  }
  return undefined;
}

export function refuseCommand(reason: string): CommandOutcome {
  return { ended: "refused", stdout: "", stderr: "", droppedBytes: 0, durationMs: 0, reason };
}

/** The variables of every process of a run, sandboxed or not. None come from Metier's own environment. */
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
