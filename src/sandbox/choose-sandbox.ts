/**
 * Which sandbox holds on this machine, by really starting something in it: the first that works of this system's order,
 * or the one that the config names and no other. Without one there is none: commands run unsandboxed only for a trusted
 * skill, and only when the config says `backend = "none"` in so many words.
 */
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { createCommandFinder, type Environment } from "../host/find-command.ts";
import type { Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import type { SandboxProbe } from "./describe-probes.ts";
import { findHeldLimits } from "./held-limits.ts";
import { probeJustBash } from "./just-bash/probe-just-bash.ts";
import { type AllowedLimits, limitSandbox } from "./limit-sandbox.ts";
import { probeBubblewrap } from "./probe-bubblewrap.ts";
import { type Machine, type Probed, unavailable } from "./probed.ts";
import { type FoundPrograms, NO_PROGRAMS } from "./programs.ts";
import type { Sandbox, SandboxBackend } from "./sandbox.ts";
import { probeSandboxRuntime } from "./sandbox-runtime/probe-sandbox-runtime.ts";
import { createUnsandboxed } from "./unsandboxed.ts";

export interface SandboxRequest {
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

export interface SandboxChoice {
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
  const order = orderOf(backend);
  const probes: SandboxProbe[] = [];
  const missing = programs?.diagnostics ?? [];
  for (const tried of order) {
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

function probeBackend(backend: SandboxBackend, machine: Machine, trust: Trust): Promise<Probed> {
  if (backend === "bubblewrap") return probeBubblewrap(machine);
  if (backend === "just-bash") return probeJustBash(machine, trust);
  if (backend === "sandbox-runtime") return probeSandboxRuntime(machine);
  return Promise.resolve(offerUnsandboxed(trust, machine));
}

function offerUnsandboxed(trust: Trust, { environment, programs }: Machine): Probed {
  if (trustAllows(trust, "run-scripts-unsandboxed")) {
    const reason = "the config asks for no sandbox.";
    const prlimit = createCommandFinder(environment)("prlimit");
    const sandbox = createUnsandboxed({ programs, ...(prlimit !== undefined && { prlimit }) });
    const limits = findHeldLimits(prlimit !== undefined, false);
    return { sandbox, probe: { backend: "none", available: true, reason, limits } };
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
