/**
 * Which sandbox holds on this machine, by really starting something in it. Without one there is none: commands run
 * unsandboxed only for a trusted skill, and only when the config says `backend = "none"` in so many words.
 */
import type { Config } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { createCommandFinder, type Environment } from "../host/find-command.ts";
import type { Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import type { SandboxProbe } from "./describe-probes.ts";
import type { Sandbox, SandboxBackend } from "./sandbox.ts";
import { installCommand, kernelCommand } from "./sandbox-remedy.ts";
import { createUnsandboxed } from "./unsandboxed.ts";
import type { World } from "./world.ts";

export interface SandboxRequest {
  readonly backend: Config["sandbox"]["backend"];
  /** Of the run. Default: untrusted, which never runs without a sandbox. */
  readonly trust?: Trust;
  /** Where programs are looked up. Default: Metier's own. */
  readonly environment?: Environment;
}

export interface SandboxChoice {
  readonly sandbox?: Sandbox;
  readonly probes: readonly SandboxProbe[];
  /** Says loudly when there is no sandbox, or none was wanted. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Probed {
  readonly probe: SandboxProbe;
  readonly sandbox?: Sandbox;
}

export async function chooseSandbox(request: SandboxRequest): Promise<SandboxChoice> {
  const { backend, trust = "untrusted", environment = process.env } = request;
  const { probe, sandbox } =
    backend === "none" ? offerUnsandboxed(trust, environment) : await probeBackend(backend, environment);
  if (!sandbox) return { probes: [probe], diagnostics: [unavailable(probe)] };
  return { sandbox, probes: [probe], diagnostics: backend === "none" ? [UNSANDBOXED] : [] };
}

/** Why nothing can be executed, in one sentence with what to do. */
export function explainAbsence(probes: readonly SandboxProbe[]): string {
  const tried = probes
    .map(({ reason, remedy }) => (remedy ? `${reason} Run \`${remedy}\`.` : reason))
    .join(" ");
  return `No sandbox works here, so no command is run. ${tried}`.trim();
}

function probeBackend(backend: "auto" | SandboxBackend, environment: Environment): Promise<Probed> {
  if (backend === "auto" || backend === "bubblewrap") return probeBubblewrap(environment);
  const reason = `\`sandbox.backend = "${backend}"\` is not supported by this version; use \`auto\`.`;
  return Promise.resolve({ probe: { backend, available: false, reason } });
}

/** A machine does not change while we run: each PATH is tried once. */
const known = new Map<string, Promise<Probed>>();

function probeBubblewrap(environment: Environment): Promise<Probed> {
  const key = environment.PATH ?? "";
  const probed = known.get(key) ?? tryBubblewrap(environment);
  known.set(key, probed);
  return probed;
}

async function tryBubblewrap(environment: Environment): Promise<Probed> {
  const fail = (reason: string, remedy?: string): Probed => ({
    probe: { backend: "bubblewrap", available: false, reason, ...(remedy !== undefined && { remedy }) },
  });
  if (process.platform !== "linux") return fail(`bubblewrap does not exist for ${process.platform}.`);
  const find = createCommandFinder(environment);
  const bwrap = find("bwrap");
  if (bwrap === undefined) return fail("bubblewrap is not installed.", installCommand(find));
  const prlimit = find("prlimit");
  const sandbox = createBubblewrap({ bwrap, ...(prlimit !== undefined && { prlimit }) });
  const limits = { timeoutMs: 10_000, maxOutputBytes: 4096 };
  const outcome = await sandbox.run({ argv: ["true"], world: PROBE_WORLD, env: {}, limits });
  if (outcome.exitCode === 0) {
    const reason = `${bwrap}${prlimit === undefined ? " without `prlimit`, so file sizes are not limited" : ""}.`;
    return { sandbox, probe: { backend: "bubblewrap", available: true, reason } };
  }
  const said = outcome.reason ?? outcome.stderr.split("\n")[0] ?? outcome.ended;
  const reason = `bubblewrap is installed but does not start: ${said} Version 0.8 or newer is needed.`;
  return fail(reason, kernelCommand());
}

/** Something that every machine has, and nothing of the user's. */
const PROBE_WORLD: World = {
  cwd: "/usr",
  workDir: "/usr",
  readable: ["/usr"],
  writable: [],
  masked: [],
  protectedPaths: [],
};

function offerUnsandboxed(trust: Trust, environment: Environment): Probed {
  if (trustAllows(trust, "run-scripts-unsandboxed")) {
    const reason = "the config asks for no sandbox.";
    const prlimit = createCommandFinder(environment)("prlimit");
    const sandbox = createUnsandboxed(prlimit === undefined ? {} : { prlimit });
    return { sandbox, probe: { backend: "none", available: true, reason } };
  }
  const reason = 'an untrusted skill never runs unsandboxed, whatever `sandbox.backend = "none"` says.';
  return { probe: { backend: "none", available: false, reason } };
}

const UNSANDBOXED: Diagnostic = {
  code: "sandbox.unsandboxed",
  severity: "warning",
  message: "Commands run WITHOUT a sandbox: they can read, change and reach whatever you can.",
  path: "",
  hint: 'Remove `backend = "none"` from `[sandbox]` in your config.',
};

function unavailable(probe: SandboxProbe): Diagnostic {
  return {
    code: "sandbox.unavailable",
    severity: "warning",
    message: `No command can be run: ${probe.reason}`,
    path: "",
    hint:
      probe.remedy === undefined ? "`metier doctor` says what this machine has." : `Run \`${probe.remedy}\`.`,
  };
}
