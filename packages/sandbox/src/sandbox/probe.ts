/**
 * Tries a backend: how, the result, which limits work, and what to run on this machine to get one. `doctor` shows it.
 */
import { type CommandFinder, createCommandFinder, type Environment } from "@metier/base/programs";
import { BIN } from "./inside/protocol.ts";
import { type Controller, cgroupHomes } from "./process/cgroup-homes.ts";
import { countsByNamespace } from "./process/kernel-limits.ts";
import { readText } from "./process/process-tree.ts";
import type { BroughtPrograms } from "./programs.ts";
import type { Sandbox, SandboxBackend, SandboxCommand, SandboxLimits } from "./sandbox.ts";
import type { World } from "./world/world.ts";

/** What a sandbox is built from here. */
export interface SandboxMachine {
  readonly environment: Environment;
  readonly programs: BroughtPrograms;
}

/** The result of trying a backend. */
export interface SandboxProbe {
  readonly backend: SandboxBackend;
  readonly available: boolean;
  /** What was found, or why it does not work. */
  readonly reason: string;
  /** The command that installs it, if known. */
  readonly remedy?: string | undefined;
  /** For one that works and starts programs of the machine. */
  readonly limits?: HeldLimits;
}

export interface Probed {
  readonly probe: SandboxProbe;
  readonly sandbox?: Sandbox;
}

export function unavailable(backend: SandboxBackend, reason: string, remedy?: string): Probed {
  return { probe: { backend, available: false, reason, remedy } };
}

export function works(sandbox: Sandbox, reason: string, limits: HeldLimits): Probed {
  return { sandbox, probe: { backend: sandbox.backend, available: true, reason, limits } };
}

/** Something every machine has, and nothing of the user's. */
export const PROBE_WORLD: World = {
  cwd: "/usr",
  workDir: "/usr",
  readable: ["/usr"],
  writable: [],
  masked: [],
  protectedPaths: [],
};

export const PROBE_LIMITS: SandboxLimits = { timeoutMs: 10_000, maxOutputBytes: 4096 };

export const PROBE_COMMAND: SandboxCommand = {
  argv: ["true"],
  world: PROBE_WORLD,
  env: {},
  limits: PROBE_LIMITS,
};

/** Actually starts something. Returns what went wrong, or nothing. */
export async function tryOut(sandbox: Sandbox): Promise<string | undefined> {
  const outcome = await sandbox.run(PROBE_COMMAND);
  if (outcome.exitCode === 0) return undefined;
  return outcome.reason ?? outcome.stderr.split("\n")[0] ?? outcome.ended;
}

type Probe = (machine: SandboxMachine) => Promise<Probed>;

interface TriedMachine extends SandboxMachine {
  readonly find: CommandFinder;
}

/** A machine does not change while we run: each PATH is tried once, with each set of programs. */
export function probeOnce(attempt: (machine: TriedMachine) => Promise<Probed>): Probe {
  const known = new Map<string, Promise<Probed>>();
  return (machine) => {
    const { files, folders } = machine.programs;
    const key = JSON.stringify([machine.environment.PATH, files, folders]);
    const probed = known.get(key) ?? attempt({ ...machine, find: createCommandFinder(machine.environment) });
    known.set(key, probed);
    return probed;
  };
}

/** The lines about the probes in `doctor`. */
export function describeProbes(probes: readonly SandboxProbe[]): readonly string[] {
  return probes.flatMap(({ backend, available, reason, remedy, limits }) => {
    const help = remedy === undefined ? "" : ` Run \`${remedy}\`.`;
    const line = `${backend}: ${available ? "works" : "does not work"}; ${reason}${help}`;
    return limits === undefined ? [line] : [line, `limits of ${backend}: ${describeHeldLimits(limits)}`];
  });
}

/** Which limits apply to commands on this machine, and how. */
interface HeldLimits {
  /** What the kernel limits for each process, through `prlimit`. */
  readonly prlimit: readonly string[];
  /** What the kernel limits for all processes of a command, through a control group. */
  readonly cgroup: readonly Controller[];
  /** What Metier checks several times a second and stops a command for. */
  readonly watchdog: readonly string[];
}

export function findHeldLimits(hasPrlimit: boolean, isIsolated: boolean): HeldLimits {
  const isLinux = process.platform === "linux";
  return {
    prlimit: hasPrlimit
      ? ["file size", "memory", "processor time", ...(isIsolated && countsByNamespace() ? ["threads"] : [])]
      : [],
    cgroup: [...new Set(cgroupHomes().flatMap(({ controllers }) => controllers))],
    watchdog: [...(isLinux ? ["processes", "memory"] : []), "work folder"],
  };
}

export function describeHeldLimits({ prlimit, cgroup, watchdog }: HeldLimits): string {
  const name = (words: readonly string[]): string => words.join(", ");
  return [
    prlimit.length > 0 ? `prlimit (${name(prlimit)})` : "no `prlimit`, so a single file or process can grow",
    cgroup.length > 0 ? `control group (${name(cgroup)})` : "no control group that Metier can divide",
    `watchdog (${name(watchdog)})`,
  ].join("; ");
}

/** Package manager → its install command. The first one found is the machine's. */
const INSTALLERS: Readonly<Record<string, string>> = {
  "apt-get": "apt-get install -y",
  dnf: "dnf install -y",
  pacman: "pacman -S --noconfirm",
  zypper: "zypper install -y",
  apk: "apk add",
};

/** Program → its package, which has the same name in all of them. */
const PACKAGES: Readonly<Record<string, string>> = { bwrap: "bubblewrap", rg: "ripgrep" };

/** Kernel settings that prevent an installed bubblewrap from starting: the bad value, and the good one. */
const KERNEL_SETTINGS = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", bad: "1", good: "0" },
  { name: "kernel.unprivileged_userns_clone", bad: "0", good: "1" },
  { name: "user.max_user_namespaces", bad: "0", good: "15000" },
];

/** What to run on this machine to get these programs, if known. */
export function installCommand(
  find: CommandFinder,
  programs: readonly string[] = ["bwrap"],
): string | undefined {
  const installer = Object.entries(INSTALLERS).find(([program]) => find(program) !== undefined);
  const packages = programs.map((program) => PACKAGES[program] ?? program);
  return installer && asRoot([installer[1], ...packages].join(" "));
}

/** For a bubblewrap that is installed but does not start. */
export function kernelCommand(): string | undefined {
  const setting = KERNEL_SETTINGS.find(
    ({ name, bad }) => readText(`/proc/sys/${name.replaceAll(".", "/")}`).trim() === bad,
  );
  return setting && asRoot(`sysctl -w ${setting.name}=${setting.good}`);
}

function asRoot(command: string): string {
  return process.getuid?.() === 0 ? command : `sudo ${command}`;
}

const INTERPRETERS = ["sh", "bash", "python3", "node", "deno", "bun", "ruby", "perl", "uv", "uvx"];

/**
 * Which interpreters a sandboxed command finds, by looking inside: name → the file on this machine, or `null`. Empty
 * for a sandbox that starts none.
 */
export async function listInterpreters(
  sandbox: Sandbox,
  { files }: BroughtPrograms,
): Promise<Readonly<Record<string, string | null>>> {
  if (!sandbox.runsPrograms) return {};
  const look = `for name in "$@"; do echo "$name=$(command -v "$name")"; done`;
  const { stdout } = await sandbox.run({
    argv: ["sh", "-c", look, "sh", ...INTERPRETERS],
    world: PROBE_WORLD,
    env: {},
    limits: PROBE_LIMITS,
  });
  const found = new Map(stdout.split("\n").map((line) => splitOnce(line)));
  const brought: Readonly<Record<string, string>> = { ...files, node: process.execPath };
  return Object.fromEntries(
    INTERPRETERS.map((name) => {
      const path = found.get(name) || null;
      return [name, path === `${BIN}/${name}` ? (brought[name] ?? path) : path];
    }),
  );
}

function splitOnce(line: string): [name: string, path: string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
