/**
 * The Python and Node packages of one skill: which it locks, whether they are installed for it, and, where they may be,
 * their installation. What cannot be done is a diagnostic, and the skill goes on without.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { AddressBook } from "../../egress/resolve-public.ts";
import { compareText, type Diagnostic } from "../../foundation/diagnostic.ts";
import type { Environment } from "../../host/find-command.ts";
import type { Places } from "../../host/places.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { PlacedFolder } from "../../sandbox/world.ts";
import type { Trust } from "../../skill/skill.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import { buildEnvironment } from "./build-environment.ts";
import { environmentFolder, useEnvironment } from "./environment-cache.ts";
import { type EnvironmentKind, type EnvironmentPlan, environmentFault, isPlan } from "./environment-plan.ts";
import { describeInstallation, RESULT, runtimeOf } from "./installation.ts";
import { NODE_FILES, readNodePlan } from "./node-plan.ts";
import { PYTHON_FILES, readPythonPlan } from "./python-plan.ts";

export interface EnvironmentRequest {
  readonly skill: string;
  /** The real folder of the skill. */
  readonly folder: string;
  readonly trust: Trust;
  readonly config: Config;
  readonly places: Places;
  readonly environment: Environment;
  /** Absent where none holds: then nothing is installed. */
  readonly sandbox?: Sandbox;
  /** `false`: only to see what is there. */
  readonly build: boolean;
  readonly signal?: AbortSignal;
  /** Hears of what takes long, in one line each. */
  onProgress?(message: string): void;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
}

export interface EnvironmentState {
  readonly kind: EnvironmentKind;
  /** The file of the skill that names the packages. */
  readonly lock: string;
  readonly packages: readonly string[];
  readonly status: "ready" | "absent";
}

export interface PreparedEnvironments {
  /** What the processes of the skill are to see. */
  readonly placed: readonly PlacedFolder[];
  readonly environments: readonly EnvironmentState[];
  readonly diagnostics: readonly Diagnostic[];
}

const PACKAGE_FILES = [...NODE_FILES, ...PYTHON_FILES];
/** Each entry of the skill's folder becomes a mount when packages appear in it. */
const MAX_ENTRIES = 1000;

/** Whether there is a file that may name packages: cheap, and only to know whom to ask. */
export function namesPackages(folder: string): boolean {
  return PACKAGE_FILES.some((name) => existsSync(join(folder, name)));
}

export async function prepareEnvironments(request: EnvironmentRequest): Promise<PreparedEnvironments> {
  const readings = [readNodePlan(request.folder), readPythonPlan(request.folder)];
  const prepared = await Promise.all(
    readings.map((reading): Promise<Prepared> | Prepared => {
      if (isPlan(reading)) return prepareOne(reading, request);
      return { diagnostics: reading ? [reading] : [] };
    }),
  );
  return {
    placed: prepared.flatMap(({ placed }) => placed ?? []),
    environments: prepared.flatMap(({ state }) => state ?? []),
    diagnostics: prepared.flatMap(({ diagnostics }) => diagnostics),
  };
}

interface Prepared {
  readonly placed?: PlacedFolder;
  readonly state?: EnvironmentState;
  readonly diagnostics: readonly Diagnostic[];
}

async function prepareOne(plan: EnvironmentPlan, request: EnvironmentRequest): Promise<Prepared> {
  const state = (status: EnvironmentState["status"]): EnvironmentState => ({
    kind: plan.kind,
    lock: plan.lock,
    packages: plan.packages.map(({ name }) => name).sort(compareText),
    status,
  });
  const refuse = (code: FaultCode, message: string, hint: string): Prepared => {
    const what = `The packages of \`${plan.lock}\` are not there for \`${request.skill}\`: ${message}`;
    const path = join(request.folder, plan.lock);
    return { state: state("absent"), diagnostics: [environmentFault(code, path, what, hint)] };
  };
  const { sandbox } = request;
  const reason = whyNotBuilt(request);
  if (reason !== undefined || sandbox === undefined)
    return refuse("environment.not-built", ...(reason ?? NO_SANDBOX));
  const runtime = await runtimeOf(plan.kind, sandbox);
  if (runtime === undefined) return refuse("environment.not-built", ...NO_PYTHON);
  const from = environmentFolder(request.places, plan, runtime);
  const at = join(request.folder, RESULT[plan.kind]);
  const placed = { from, at, ...(plan.kind === "python" && { variable: "PYTHONPATH" }) };
  if (useEnvironment(from)) return { placed, state: state("ready"), diagnostics: [] };
  if (!request.build) return { state: state("absent"), diagnostics: [] };

  const installation = await describeInstallation(plan, { ...request, sandbox });
  if (!("command" in installation)) return refuse(installation.code, installation.message, installation.hint);
  const count = plan.packages.length;
  const { url } = installation.registry;
  request.onProgress?.(
    `Installing ${count} ${plan.kind} package${count === 1 ? "" : "s"} for ${request.skill} from ${url}`,
  );
  const built = await buildEnvironment({ ...request, plan, installation, sandbox, folder: from });
  if (!built.ok) {
    const hint = `The next run tries again; \`metier setup ${request.skill} --install\` does it now.`;
    return refuse("environment.failed", [built.message, built.said].filter(Boolean).join("\n"), hint);
  }
  return { placed, state: state("ready"), diagnostics: [describeBuilt(plan, request, url)] };
}

type FaultCode = Parameters<typeof environmentFault>[0];
type Reason = readonly [message: string, hint: string];

const NO_SANDBOX: Reason = [
  "they are installed and used in bubblewrap alone.",
  "`metier doctor` says what is missing for it.",
];
const NO_PYTHON: Reason = [
  "sandboxed commands find no `python3`.",
  'Install it (`apt-get install python3`), or name one in your config: `[sandbox]` `programs = ["python3"]`.',
];

function whyNotBuilt({ skill, folder, trust, config, sandbox }: EnvironmentRequest): Reason | undefined {
  if (!trustAllows(trust, "build-environment")) {
    return [
      "it is untrusted here.",
      `Read it with \`metier read ${skill}\`; \`metier trust ${skill}\` trusts it.`,
    ];
  }
  if (!config.environments.build) {
    return ["`environments.build` is off.", "Set `build = true` under `[environments]` in your config."];
  }
  if (sandbox?.backend !== "bubblewrap") return NO_SANDBOX;
  if (readdirSync(folder).length > MAX_ENTRIES) {
    return [`its folder has more than ${MAX_ENTRIES} entries.`, "Move them into folders of their own."];
  }
  return undefined;
}

function describeBuilt(
  plan: EnvironmentPlan,
  { skill, folder }: EnvironmentRequest,
  url: string,
): Diagnostic {
  return {
    code: "environment.built",
    severity: "info",
    path: join(folder, plan.lock),
    message: `The packages of \`${plan.lock}\` were installed for \`${skill}\` from ${url}; later runs use them again.`,
  };
}
