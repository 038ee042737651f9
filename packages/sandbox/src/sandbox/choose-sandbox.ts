/**
 * Chooses a working sandbox by actually starting something in it: the first that works in this system's order, or only
 * the one named in the config. If none works, commands do not run; unsandboxed commands need a trusted skill and an
 * explicit `backend = "none"`.
 */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import type { Trust } from "@metier/skills";
import type { Config, SandboxConfig } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { probeBubblewrap } from "./bubblewrap/bubblewrap.ts";
import { placeClient } from "./inside-programs.ts";
import { probeJustBash } from "./just-bash/just-bash.ts";
import {
  findHeldLimits,
  type Probed,
  type SandboxMachine,
  type SandboxProbe,
  unavailable,
  works,
} from "./probe.ts";
import { withRlimits } from "./process/kernel-limits.ts";
import { findByEnvironment } from "./process/process-tree.ts";
import { runProcess } from "./process/run-process.ts";
import { ownFolders, whyTooFull } from "./process/work-folders.ts";
import { type BroughtPrograms, type FoundPrograms, NO_PROGRAMS, searchPath } from "./programs.ts";
import {
  createSandbox,
  minimalEnvironment,
  refuseCommand,
  type Sandbox,
  type SandboxBackend,
  type SandboxLimits,
} from "./sandbox.ts";
import { probeSandboxRuntime } from "./sandbox-runtime/sandbox-runtime.ts";

interface SandboxRequest {
  readonly backend: Config["sandbox"]["backend"];
  /** The run's trust. Default: untrusted, which never runs without a sandbox. */
  readonly trust?: Trust;
  /** Where programs are searched. Default: Metier's own PATH. */
  readonly environment?: Environment;
  /** `[sandbox] programs`. */
  readonly programs?: FoundPrograms;
  /** Limits for every command from `[sandbox]`. Absent: only those of the caller. */
  readonly limits?: AllowedLimits;
}

interface SandboxChoice {
  readonly sandbox?: Sandbox;
  readonly probes: readonly SandboxProbe[];
  /** Warns clearly if there is no sandbox, or it is turned off. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What `auto` tries, in this order. Other systems support only the reading commands. */
const ORDER: Partial<Record<NodeJS.Platform, readonly SandboxBackend[]>> = {
  linux: ["bubblewrap", "just-bash"],
  darwin: ["sandbox-runtime", "just-bash"],
};

export async function chooseSandbox(request: SandboxRequest): Promise<SandboxChoice> {
  const { backend, trust = "untrusted", environment = process.env, programs, limits } = request;
  const machine = { environment, programs: programs ?? NO_PROGRAMS };
  const probes: SandboxProbe[] = [];
  const missing = programs?.diagnostics ?? [];
  for (const tried of orderOf(backend)) {
    const { probe, sandbox } = await probeBackend(tried, machine, trust);
    probes.push(probe);
    if (!sandbox) continue;
    const held = limits ? limitSandbox(sandbox, limits) : sandbox;
    return { sandbox: held, probes, diagnostics: [...sayLoudly(tried, probes), ...missing] };
  }
  return { probes, diagnostics: [noSandbox(probes), ...missing] };
}

/** Probes every backend in order, even after the chosen one; for people who want to know. */
export async function probeOrder(request: SandboxRequest): Promise<readonly SandboxProbe[]> {
  const { backend, trust = "untrusted", environment = process.env, programs = NO_PROGRAMS } = request;
  const probes: SandboxProbe[] = [];
  for (const tried of orderOf(backend)) {
    probes.push((await probeBackend(tried, { environment, programs }, trust)).probe);
  }
  return probes;
}

function orderOf(backend: SandboxRequest["backend"]): readonly SandboxBackend[] {
  return backend === "auto" ? (ORDER[process.platform] ?? ["bubblewrap"]) : [backend];
}

/** Why no command can run, with what to do, in one sentence. */
export function explainAbsence(probes: readonly SandboxProbe[]): string {
  const tried = probes
    .map(({ reason, remedy }) => (remedy ? `${reason} Run \`${remedy}\`.` : reason))
    .join(" ");
  return `No sandbox works here, so commands cannot run. ${tried}`.trim();
}

function probeBackend(backend: SandboxBackend, machine: SandboxMachine, trust: Trust): Promise<Probed> {
  if (backend === "bubblewrap") return probeBubblewrap(machine);
  if (backend === "just-bash") return probeJustBash(machine, trust);
  if (backend === "sandbox-runtime") return probeSandboxRuntime(machine);
  return Promise.resolve(offerUnsandboxed(trust, machine));
}

function offerUnsandboxed(trust: Trust, { environment, programs }: SandboxMachine): Probed {
  if (trustAllows(trust, "run-scripts-unsandboxed")) {
    const reason = "the config turns the sandbox off.";
    const prlimit = createCommandFinder(environment)("prlimit");
    const sandbox = createUnsandboxed({ programs, prlimit });
    return works(sandbox, reason, findHeldLimits(prlimit !== undefined, false));
  }
  const reason = 'an untrusted skill never runs unsandboxed, even with `sandbox.backend = "none"`.';
  return unavailable("none", reason);
}

/** A warning for a sandbox that is weaker, or does less, than it should. */
function sayLoudly(backend: SandboxBackend, probes: readonly SandboxProbe[]): readonly Diagnostic[] {
  if (backend === "none") return [UNSANDBOXED];
  if (backend !== "just-bash") return [];
  const [first] = probes;
  if (first?.available) return [INTERPRETED];
  const why = first?.reason ?? "";
  return [{ ...INTERPRETED, message: `${INTERPRETED.message} ${why}`, hint: hintFor(probes) }];
}

const UNSANDBOXED: Diagnostic = {
  code: "sandbox.unsandboxed",
  severity: "warning",
  message: "Commands run WITHOUT a sandbox: they can read, change and reach anything you can.",
  path: "",
  hint: 'Remove `backend = "none"` from `[sandbox]` in your config.',
};

const INTERPRETED: Diagnostic = {
  code: "sandbox.interpreted",
  severity: "warning",
  message:
    "Commands run in an INTERPRETED shell: its built-in cat, grep, sed, awk, jq, find and similar commands work, also in `sh` scripts; python3, node, git and all other programs do NOT run.",
  path: "",
  hint: 'Remove `backend = "just-bash"` from `[sandbox]` in your config.',
};

function noSandbox(probes: readonly SandboxProbe[]): Diagnostic {
  const message = `Commands cannot run: ${probes.map(({ reason }) => reason).join(" ")}`;
  return { code: "sandbox.unavailable", severity: "warning", message, path: "", hint: hintFor(probes) };
}

function hintFor(probes: readonly SandboxProbe[]): string {
  const remedy = probes.find((probe) => probe.remedy !== undefined)?.remedy;
  return remedy === undefined ? "Check this machine with `metier doctor`." : `Run \`${remedy}\`.`;
}

type AllowedLimits = Pick<SandboxConfig, "memoryMb" | "processes" | "workMb">;

const MEGABYTE = 1024 * 1024;

/**
 * Applies the config's limits to every command of a sandbox, whoever starts it; a caller's own limits count only if
 * they are lower. Every tool, hook and toolset gets its sandbox through this.
 */
export function limitSandbox(sandbox: Sandbox, { memoryMb, processes, workMb }: AllowedLimits): Sandbox {
  const maxWorkBytes = workMb * MEGABYTE;
  const lower = (asked: SandboxLimits): Required<SandboxLimits> => ({
    ...asked,
    maxProcesses: Math.min(processes, asked.maxProcesses ?? processes),
    maxMemoryBytes: Math.min(memoryMb * MEGABYTE, asked.maxMemoryBytes ?? Number.POSITIVE_INFINITY),
    maxWorkBytes: Math.min(maxWorkBytes, asked.maxWorkBytes ?? maxWorkBytes),
    maxFileBytes: Math.min(maxWorkBytes, asked.maxFileBytes ?? maxWorkBytes),
  });
  return {
    ...sandbox,
    async run(command) {
      const limits = lower(command.limits);
      const full = await whyTooFull(ownFolders(command.world), limits.maxWorkBytes);
      if (full !== undefined) return refuseCommand(`${full} No command runs until it is smaller.`);
      return sandbox.run({ ...command, limits });
    },
  };
}

/*
 * No sandbox, if the config says so: the same minimal environment, limits and outcomes, but a command can read, write
 * and reach anything the user can.
 */

/** Used to find processes that left the tree. */
const MARK = "METIER_COMMAND_ID";

interface UnsandboxedParts {
  readonly prlimit?: string | undefined;
  readonly programs?: BroughtPrograms;
}

/** Uses the user's own network: an `egressSocket` would restrict nothing and is ignored. */
export function createUnsandboxed({ prlimit, programs = NO_PROGRAMS }: UnsandboxedParts = {}): Sandbox {
  const bins = [process.execPath, ...Object.values(programs.files)].map((file) => dirname(file));
  return createSandbox("none", async (command) => {
    const { argv, world, stdin, signal, onOutput, limits, capabilitySocket: socket } = command;
    const path = searchPath([...(socket === undefined ? [] : [placeClient(socket)]), ...bins], programs);
    const id = randomUUID();
    const env = { ...minimalEnvironment(world, { path, temporary: tmpdir() }), ...command.env, [MARK]: id };
    const [name = "", ...words] = argv;
    const program = name.includes("/") ? name : createCommandFinder(env)(name);
    if (program === undefined) {
      const stderr = `${name}: No such file or directory\n`;
      return { ended: "exited", exitCode: 127, stdout: "", stderr, droppedBytes: 0, durationMs: 0 };
    }
    const [started = program, ...args] = withRlimits(prlimit, limits, [program, ...words]);
    return runProcess({
      program: started,
      args,
      env,
      cwd: command.cwd ?? world.cwd,
      limits,
      folders: ownFolders(world),
      findStrays: () => findByEnvironment(`${MARK}=${id}`),
      stdin,
      signal,
      onOutput,
    });
  });
}
