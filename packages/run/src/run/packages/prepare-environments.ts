/**
 * What a skill needs installed: checks system packages, reports whether locked Python and Node packages are installed
 * and, if allowed, installs them. What can't be done is a diagnostic; the skill continues without.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { type Places, realPathOr } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { compareText, forReader, showNames } from "@metier/base/text";
import { findInstalledPackages, type PlacedFolder, type Sandbox } from "@metier/sandbox";
import type { AddressBook } from "@metier/sandbox/egress";
import { hasFolder, type Scope, type Skill, type Trust } from "@metier/skills";
import type { Config } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { pathOf } from "../../invoke/choose-execution.ts";
import type { RunHost } from "../run-request.ts";
import { sandboxFor } from "../run-secrets.ts";
import { buildEnvironment, environmentFolder, useEnvironment } from "./build-environment.ts";
import {
  type EnvironmentKind,
  type EnvironmentPlan,
  environmentFault,
  NODE_FILES,
  PYTHON_FILES,
  readNodePlan,
  readPythonPlan,
} from "./environment-plan.ts";
import { describeInstallation, type InstallationFault, notBuilt, RESULT, runtimeOf } from "./installation.ts";

export interface EnvironmentRequest {
  readonly skill: string;
  /** The real folder of the skill. */
  readonly folder: string;
  readonly trust: Trust;
  readonly config: Config;
  readonly places: Places;
  readonly environment: Environment;
  /** Absent if none is suitable: then nothing is installed. */
  readonly sandbox?: Sandbox | undefined;
  /** `false`: only check. */
  readonly build: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Receives slow steps, one line each. */
  readonly onProgress?: ((message: string) => unknown) | undefined;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
}

/** The packages of one language that a skill locks, and whether they are installed for it. */
export interface EnvironmentState {
  /** The language of the packages. */
  readonly kind: EnvironmentKind;
  /** The file of the skill that names the packages. */
  readonly lock: string;
  /** The names of the locked packages, sorted. */
  readonly packages: readonly string[];
  /** `ready`: installed; `absent`: not installed, and a diagnostic may say why. */
  readonly status: "ready" | "absent";
}

export interface PreparedEnvironments {
  /** What the skill's processes should see. */
  readonly placed: readonly PlacedFolder[];
  readonly environments: readonly EnvironmentState[];
  readonly diagnostics: readonly Diagnostic[];
}

const PACKAGE_FILES = [...NODE_FILES, ...PYTHON_FILES];
/** Each entry of the skill's folder becomes a mount when packages appear in it. */
const MAX_ENTRIES = 1000;

/** Whether a file may name packages: a cheap check before the real one. */
export function namesPackages(folder: string): boolean {
  return PACKAGE_FILES.some((name) => existsSync(join(folder, name)));
}

export async function prepareEnvironments(request: EnvironmentRequest): Promise<PreparedEnvironments> {
  const readings = [readNodePlan(request.folder), readPythonPlan(request.folder)];
  const prepared = await Promise.all(
    readings.map((reading): Promise<Prepared> | Prepared => {
      if (!reading.ok) return { diagnostics: [reading.refusal] };
      return reading.value ? prepareOne(reading.value, request) : { diagnostics: [] };
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
  const refuse = ({ code, message, hint }: InstallationFault): Prepared => {
    const what = `\`${request.skill}\` runs without the packages of \`${plan.lock}\`: ${message}`;
    const path = join(request.folder, plan.lock);
    return { state: state("absent"), diagnostics: [environmentFault(code, path, what, hint)] };
  };
  const { sandbox } = request;
  const reason = whyNotBuilt(request);
  if (reason !== undefined || sandbox === undefined) return refuse(reason ?? NO_SANDBOX);
  const runtime = await runtimeOf(plan.kind, sandbox);
  if (runtime === undefined) return refuse(NO_PYTHON);
  const from = environmentFolder(request.places, plan, runtime);
  const at = join(request.folder, RESULT[plan.kind]);
  const placed = { from, at, ...(plan.kind === "python" && { variable: "PYTHONPATH" }) };
  if (useEnvironment(from)) return { placed, state: state("ready"), diagnostics: [] };
  if (!request.build) return { state: state("absent"), diagnostics: [] };

  const described = await describeInstallation(plan, { ...request, sandbox });
  if (!described.ok) return refuse(described.refusal);
  const installation = described.value;
  const count = plan.packages.length;
  const { url } = installation.registry;
  request.onProgress?.(
    `Installing ${count} ${plan.kind} package${count === 1 ? "" : "s"} for ${request.skill} from ${url}`,
  );
  const built = await buildEnvironment({ ...request, plan, installation, sandbox, folder: from });
  if (!built.ok) {
    const hint = `The next run tries again; to install now, use \`metier setup ${request.skill} --install\`.`;
    return refuse({ code: "environment.failed", message: built.refusal, hint });
  }
  return { placed, state: state("ready"), diagnostics: [describeBuilt(plan, request, url)] };
}

const NO_SANDBOX = notBuilt(
  "packages are only supported in bubblewrap.",
  "`metier doctor` shows what it needs.",
);
const NO_PYTHON = notBuilt(
  "the sandbox has no `python3`.",
  'Install it (`apt-get install python3`), or set one in your config: `[sandbox]` `programs = ["python3"]`.',
);

function whyNotBuilt(request: EnvironmentRequest): InstallationFault | undefined {
  const { skill, folder, trust, config, sandbox } = request;
  if (!trustAllows(trust, "build-environment")) {
    const advice = `Read it with \`metier read ${skill}\`, then trust it with \`metier trust ${skill}\`.`;
    const upload = (grant: string): string => `An admin can trust exactly this content: ${grant}.`;
    const hint = forReader({ command: advice, program: advice, upload });
    return notBuilt("it is untrusted here.", hint);
  }
  if (!config.environments.build) {
    return notBuilt(
      "`environments.build` is off.",
      "Set `build = true` under `[environments]` in your config.",
    );
  }
  if (sandbox?.backend !== "bubblewrap") return NO_SANDBOX;
  if (readdirSync(folder).length > MAX_ENTRIES) {
    const message = `its folder has more than ${MAX_ENTRIES} entries.`;
    return notBuilt(message, "Move them into subfolders.");
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
    message: `Installed the packages of \`${plan.lock}\` for \`${skill}\` from ${url}; later runs reuse them.`,
  };
}

/** What a run gets: installed packages, as its commands see them. */
export type SkillNeeds = Pick<PreparedEnvironments, "placed" | "diagnostics">;

export const NO_NEEDS: SkillNeeds = { placed: [], diagnostics: [] };

type NeedsHost = Pick<RunHost, "config" | "places" | "environment">;

/** Reports what is missing; refuses nothing. `options.trust`: already lowered to its caller's. */
export async function meetNeeds(
  skill: Skill,
  host: NeedsHost,
  options: Omit<EnvironmentOptions, "build">,
): Promise<SkillNeeds> {
  const missing = await reportPackages(skill, host.environment);
  if (!hasFolder(skill)) return { placed: [], diagnostics: missing };
  const { placed, diagnostics } = await environmentsOf(skill, host, { ...options, build: true });
  return { placed, diagnostics: [...missing, ...diagnostics] };
}

type EnvironmentOptions = Pick<EnvironmentRequest, "trust" | "build" | "sandbox" | "signal" | "onProgress">;

function environmentsOf(
  { name, directory }: Skill,
  { config, places, environment }: NeedsHost,
  options: EnvironmentOptions,
): Promise<PreparedEnvironments> {
  const folder = realPathOr(directory);
  return prepareEnvironments({ skill: name, folder, config: config(), places, environment, ...options });
}

async function reportPackages(skill: Skill, environment: Environment): Promise<readonly Diagnostic[]> {
  const { packages } = skill.manifest;
  if (packages.length === 0) return [];
  const installed = await findInstalledPackages(packages, environment);
  const missing = packages.filter((name) => !installed?.has(name));
  if (missing.length === 0) return [];
  return [
    {
      code: "packages.missing",
      severity: installed ? "warning" : "info",
      path: pathOf(skill),
      message: installed
        ? `\`${skill.name}\` needs system packages that are not installed: ${showNames(missing)}.`
        : `\`${skill.name}\` needs the Debian packages ${showNames(missing)}, but without \`dpkg-query\` Metier cannot check whether they are installed.`,
      hint: `\`metier setup ${skill.name}\` shows how to install them.`,
    },
  ];
}

/** Options of `setUp`. */
export interface SetUpOptions {
  /** Whether to install missing locked packages now, if the skill is trusted. Default: no. */
  readonly build?: boolean;
  /** Stops the installation. */
  readonly signal?: AbortSignal;
  /** Receives slow steps, one line each. */
  readonly onProgress?: (message: string) => unknown;
}

/** What a skill needs on this machine, and which of it exists. */
export interface SkillSetUp {
  /** The name of the skill. */
  readonly skill: string;
  /** Where the skill comes from. */
  readonly scope: Scope;
  /** For this use: a changed file ends its trust. */
  readonly trust: Trust;
  /** Debian packages; Metier never installs them, except `metier setup` after a confirmation. */
  readonly packages: readonly string[];
  /** Python and Node packages. */
  readonly environments: readonly EnvironmentState[];
  /** Why locked packages are missing, or that they were just installed. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `skill`: from its current file, with its current trust. */
export async function setUpSkill(
  skill: Skill,
  host: NeedsHost,
  { build = false, signal, onProgress }: SetUpOptions,
): Promise<SkillSetUp> {
  const { name, scope, manifest } = skill;
  const trust = skill.trust.level;
  const setUp = { skill: name, scope, trust, packages: manifest.packages };
  // Finding a sandbox takes longer than everything else here.
  if (!(hasFolder(skill) && namesPackages(skill.directory)))
    return { ...setUp, environments: [], diagnostics: [] };
  const { sandbox } = await sandboxFor(trust, host);
  const wish = { trust, build, sandbox, signal, onProgress };
  const { environments, diagnostics } = await environmentsOf(skill, host, wish);
  return { ...setUp, environments, diagnostics };
}
