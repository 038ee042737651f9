/**
 * The only way git is started: by path, without a shell, within the source's limits, and so that it does only what we
 * ask. No machine config, prompt, hook, filter, submodule or other transport; from the user's environment it gets only
 * what ssh, TLS and credential helpers need.
 */
import { dirname, isAbsolute } from "node:path";
import type { Writable } from "node:stream";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { done, type Result } from "@metier/base/result";
import { type CommandOutcome, runProcess } from "@metier/sandbox";
import type { FetchContext, FetchProgress } from "../fetch-source.ts";
import { faulty, type InstallFault } from "../install-fault.ts";

export interface GitCommand {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** Instead of `stdin`: gets the stream at once, to write and end. */
  readonly onStdin?: ((stdin: Writable) => void) | undefined;
  /** Default: it may reach nothing. */
  readonly reach?: GitReach;
  /** It reads the user's own config, unlike all other commands. */
  readonly readsUserConfig?: true;
  /** Takes standard output as it arrives; then it is not kept. */
  onOutput?(chunk: Uint8Array): void;
  /** Called when it tells about its progress. */
  onNews?(): void;
  /** Besides the caller's own, for example if too much arrived. */
  readonly signal?: AbortSignal;
}

/** How one command may reach the repository. */
export interface GitReach {
  /** As in `GIT_ALLOW_PROTOCOL`. */
  readonly protocols: string;
  /** `name=value` */
  readonly config: readonly string[];
  /** Config whose names may contain anything, in order. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
}

export interface GitOutcome extends CommandOutcome {
  /** The server was silent for too long. */
  readonly wasIdle: boolean;
}

/** Runs git in the quarantine folder. */
type RunGit = (command: GitCommand) => Promise<GitOutcome>;

const UNREACHING: GitReach = { protocols: "none", config: [], credentials: [] };
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MAX_MEMORY_BYTES = 2 * 1024 * 1024 * 1024;
/** The pack, its index and the tree made from it. */
const COPIES = 3;

export function findGit(context: FetchContext): Result<RunGit, InstallFault> {
  const program = createCommandFinder(context.environment)("git");
  if (program === undefined) {
    return faulty(
      "git.missing",
      "`git` is not on PATH; Metier needs it to fetch repositories.",
      "Install it: `sudo apt-get install git` on Debian and Ubuntu, `brew install git` on macOS, or see https://git-scm.com/downloads.",
    );
  }
  const deadline = performance.now() + context.limits.totalMs;
  return done((command) => runGit(program, command, context, deadline));
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
    args: [...[...CLOSED_OFF, ...reach.config].flatMap((setting) => ["-c", setting]), ...args],
    env: command.readsUserConfig
      ? configEnvironment(environment, into)
      : { ...gitEnvironment(environment, reach.protocols), ...writeCredentials(reach.credentials) },
    cwd: into,
    ...(stdin !== undefined && { stdin }),
    onStdin: command.onStdin,
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
      command.onNews?.();
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

/** Through the environment, since such config names may contain `=`. */
function writeCredentials(credentials: GitReach["credentials"]): Record<string, string> {
  if (credentials.length === 0) return {};
  const pairs = credentials.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(credentials.length), ...Object.fromEntries(pairs) };
}

/** The user's own, unchanged. */
const PASSED_ON = [
  "HOME",
  "USER",
  "LOGNAME",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "XDG_CONFIG_HOME",
  "XDG_CACHE_HOME",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
] as const;

/** Prompts nobody, forwards nothing, runs nothing here; refuses an unknown host key. */
const SSH_COMMAND = [
  "ssh",
  "BatchMode=yes",
  "StrictHostKeyChecking=yes",
  "ClearAllForwardings=yes",
  "ForwardAgent=no",
  "ForwardX11=no",
  "PermitLocalCommand=no",
].join(" -o ");

/** Turns off what git does by itself, or what a config that slips through could make it do. */
const CLOSED_OFF: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.attributesFile=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "core.bigFileThreshold=8m",
  // What is fetched is soon deleted, so it need not wait for the disk.
  "core.fsync=none",
  "credential.interactive=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "fetch.unpackLimit=1",
  "fetch.writeCommitGraph=false",
  "fetch.negotiationAlgorithm=noop",
  "transfer.bundleURI=false",
  "protocol.version=2",
  "protocol.ext.allow=never",
  "http.sslVerify=true",
  "gc.auto=0",
  "maintenance.auto=false",
];

/**
 * `protocols` is the value of `GIT_ALLOW_PROTOCOL`: `https`, `ssh`, `file`, or `none` for a command that only reads.
 */
function gitEnvironment(environment: Environment, protocols: string): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const folders = (environment.PATH ?? "").split(":").filter((folder) => isAbsolute(folder));
  return {
    ...Object.fromEntries(passed),
    PATH: folders.join(":"),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    GIT_SSH_COMMAND: SSH_COMMAND,
    GIT_ALLOW_PROTOCOL: protocols,
  };
}

/** The same for a command that reads the user's and the machine's config, and nothing else. */
function configEnvironment(environment: Environment, folder: string): Record<string, string> {
  const { GIT_CONFIG_NOSYSTEM: _, GIT_CONFIG_GLOBAL: __, ...closed } = gitEnvironment(environment, "none");
  const chosen = environment.GIT_CONFIG_GLOBAL;
  // Does not search for a repository above the folder: its config is not the user's.
  return {
    ...closed,
    GIT_CEILING_DIRECTORIES: dirname(folder),
    ...(chosen && { GIT_CONFIG_GLOBAL: chosen }),
  };
}

/** `Receiving objects:  45% (123/300), 1.20 MiB | 2.00 MiB/s` */
const STEP = /(?<=^|[\r\n])([A-Z][a-z]+ [a-z]+):\s+\d+% \((\d+)\/(\d+)\)/g;

/** The last step in a chunk; a truncated one comes again later. */
function readProgress(chunk: Uint8Array): FetchProgress | undefined {
  const [, what, done, total] = [...Buffer.from(chunk).toString("latin1").matchAll(STEP)].at(-1) ?? [];
  return what === undefined ? undefined : { what, done: Number(done), total: Number(total) };
}

/**
 * How the user signs in to hosts: only the `credential.*` settings of their git config. The helpers they name are
 * programs the user chose for every clone; a source cannot influence them.
 */
export async function readCredentials(git: RunGit): Promise<GitReach["credentials"]> {
  const { ended, exitCode, stdout } = await git({
    args: ["config", "--null", "--get-regexp", "^credential\\."],
    readsUserConfig: true,
  });
  if (ended !== "exited" || exitCode !== 0) return []; // There are none.
  return stdout.split("\0").flatMap((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
  });
}
