/**
 * Which sandbox holds on this machine, by really starting something in it: the first that works of this system's order,
 * or the one that the config names and no other. Without one there is none: commands run unsandboxed only for a trusted
 * skill, and only when the config says `backend = "none"` in so many words.
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
  /** Of the run. Default: untrusted, which never runs without a sandbox. */
  readonly trust?: Trust;
  /** Where programs are looked up. Default: Metier's own. */
  readonly environment?: Environment;
  /** `[sandbox] programs`. */
  readonly programs?: FoundPrograms;
  /** What every command is held to: `[sandbox]`. Without it, only to what its caller asks for. */
  readonly limits?: AllowedLimits;
}

interface SandboxChoice {
  readonly sandbox?: Sandbox;
  readonly probes: readonly SandboxProbe[];
  /** Says loudly when there is no sandbox, or none was wanted. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What `auto` tries, in this order. Elsewhere only the reading commands are supported. */
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

/** Every backend of the order, in its order, also behind the one that is chosen; for people who want to know. */
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

/** Why nothing can be executed, in one sentence with what to do. */
export function explainAbsence(probes: readonly SandboxProbe[]): string {
  const tried = probes
    .map(({ reason, remedy }) => (remedy ? `${reason} Run \`${remedy}\`.` : reason))
    .join(" ");
  return `No sandbox works here, so no command is run. ${tried}`.trim();
}

function probeBackend(backend: SandboxBackend, machine: SandboxMachine, trust: Trust): Promise<Probed> {
  if (backend === "bubblewrap") return probeBubblewrap(machine);
  if (backend === "just-bash") return probeJustBash(machine, trust);
  if (backend === "sandbox-runtime") return probeSandboxRuntime(machine);
  return Promise.resolve(offerUnsandboxed(trust, machine));
}

function offerUnsandboxed(trust: Trust, { environment, programs }: SandboxMachine): Probed {
  if (trustAllows(trust, "run-scripts-unsandboxed")) {
    const reason = "the config asks for no sandbox.";
    const prlimit = createCommandFinder(environment)("prlimit");
    const sandbox = createUnsandboxed({ programs, prlimit });
    return works(sandbox, reason, findHeldLimits(prlimit !== undefined, false));
  }
  const reason = 'an untrusted skill never runs unsandboxed, whatever `sandbox.backend = "none"` says.';
  return unavailable("none", reason);
}

/** What must not go unnoticed about a sandbox that is weaker, or does less, than it should. */
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
  message: "Commands run WITHOUT a sandbox: they can read, change and reach whatever you can.",
  path: "",
  hint: 'Remove `backend = "none"` from `[sandbox]` in your config.',
};

const INTERPRETED: Diagnostic = {
  code: "sandbox.interpreted",
  severity: "warning",
  message:
    "Commands run in an INTERPRETED shell: its own cat, grep, sed, awk, jq, find and the like work, also in scripts for `sh`; python3, node, git and every other program do NOT run.",
  path: "",
  hint: 'Remove `backend = "just-bash"` from `[sandbox]` in your config.',
};

function noSandbox(probes: readonly SandboxProbe[]): Diagnostic {
  const message = `No command can be run: ${probes.map(({ reason }) => reason).join(" ")}`;
  return { code: "sandbox.unavailable", severity: "warning", message, path: "", hint: hintFor(probes) };
}

function hintFor(probes: readonly SandboxProbe[]): string {
  const remedy = probes.find((probe) => probe.remedy !== undefined)?.remedy;
  return remedy === undefined ? "`metier doctor` says what this machine has." : `Run \`${remedy}\`.`;
}

type AllowedLimits = Pick<SandboxConfig, "memoryMb" | "processes" | "workMb">;

const MEGABYTE = 1024 * 1024;

/**
 * Holds every command of a sandbox to what the config allows, whoever starts it and whatever they ask for: what they ask
 * for themselves counts where it is less. No tool, hook or toolset is given a sandbox without this.
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
      if (full !== undefined) return refuseCommand(`${full} Nothing is run until there is less.`);
      return sandbox.run({ ...command, limits });
    },
  };
}

/*
 * No sandbox at all, for who says so in the config: the same minimal environment, limits and endings, but a command can
 * read, write and reach whatever the user can.
 */

/** Processes that left the tree are found by it. */
const MARK = "METIER_COMMAND_ID";

interface UnsandboxedParts {
  readonly prlimit?: string | undefined;
  readonly programs?: BroughtPrograms;
}

/** Has the user's own network: an `egressSocket` would hold nothing, and is ignored. */
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
