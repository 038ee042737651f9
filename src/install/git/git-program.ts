/** The one way git is started: by its path, without a shell, closed off, within the limits of the source. */
import { createCommandFinder } from "../../host/find-command.ts";
import { runProcess } from "../../sandbox/run-process.ts";
import type { CommandOutcome } from "../../sandbox/sandbox.ts";
import type { FetchContext } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import { closeOff, configEnvironment, gitEnvironment } from "./git-environment.ts";
import { readProgress } from "./git-progress.ts";

export interface GitCommand {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** Default: it may reach nothing. */
  readonly reach?: GitReach;
  /** It reads the user's own config, which nothing else does. */
  readonly readsUserConfig?: true;
  /** Takes standard output as it comes; it is not kept then. */
  onOutput?(chunk: Uint8Array): void;
  /** Besides the caller's own, as when what came is too much. */
  readonly signal?: AbortSignal;
}

/** How one command may reach the repository. */
export interface GitReach {
  /** As `GIT_ALLOW_PROTOCOL` takes it. */
  readonly protocols: string;
  /** `name=value` */
  readonly config: readonly string[];
  /** Config whose names may hold anything, in order. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
}

export interface GitOutcome extends CommandOutcome {
  /** The server was silent for too long. */
  readonly wasIdle: boolean;
}

export interface GitProgram {
  /** Runs in the quarantine folder. */
  run(command: GitCommand): Promise<GitOutcome>;
}

const UNREACHING: GitReach = { protocols: "none", config: [], credentials: [] };
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_MEMORY_BYTES = 2 * 1024 * 1024 * 1024;
/** The pack, its index and the tree that is made of it. */
const COPIES = 3;

export function findGit(
  context: FetchContext,
): { readonly ok: true; readonly git: GitProgram } | FaultOutcome {
  const program = createCommandFinder(context.environment)("git");
  if (program === undefined) {
    return faulty(
      "git.missing",
      "`git` is not on PATH; it is needed to fetch repositories.",
      "Install it: `sudo apt-get install git` on Debian and Ubuntu, `brew install git` on macOS, or see https://git-scm.com/downloads.",
    );
  }
  const deadline = performance.now() + context.limits.totalMs;
  return { ok: true, git: { run: (command) => runGit(program, command, context, deadline) } };
}

async function runGit(
  program: string,
  command: GitCommand,
  { into, limits, environment, signal, onProgress }: FetchContext,
  deadline: number,
): Promise<GitOutcome> {
  const { args, stdin, reach = UNREACHING } = command;
  const silence = watchSilence(limits.idleMs);
  const signals = [signal, command.signal, silence.signal].filter((one) => one !== undefined);
  const outcome = await runProcess({
    program,
    args: [...closeOff(reach.config), ...args],
    env: command.readsUserConfig
      ? configEnvironment(environment, into)
      : { ...gitEnvironment(environment, reach.protocols), ...writeCredentials(reach.credentials) },
    cwd: into,
    ...(stdin !== undefined && { stdin }),
    limits: {
      timeoutMs: Math.max(1, deadline - performance.now()),
      maxOutputBytes: MAX_OUTPUT_BYTES,
      maxMemoryBytes: MAX_MEMORY_BYTES,
      maxWorkBytes: limits.bytes * COPIES,
    },
    folders: [into],
    signal: AbortSignal.any(signals),
    ...(command.onOutput && { passesOutput: true }),
    onOutput(stream, chunk) {
      silence.break();
      if (stream === "stdout") return command.onOutput?.(chunk);
      const step = readProgress(chunk);
      if (step) onProgress?.(step);
    },
  });
  silence.stop();
  return { ...outcome, wasIdle: silence.signal.aborted };
}

function watchSilence(idleMs: number): { readonly signal: AbortSignal; break(): void; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), idleMs);
  return { signal: controller.signal, break: () => timer.refresh(), stop: () => clearTimeout(timer) };
}

/** Over the environment, since the names of such config may hold `=`. */
function writeCredentials(credentials: GitReach["credentials"]): Record<string, string> {
  if (credentials.length === 0) return {};
  const pairs = credentials.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return { GIT_CONFIG_COUNT: String(credentials.length), ...Object.fromEntries(pairs) };
}
