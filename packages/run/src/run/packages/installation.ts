/**
 * How each kind of environment is installed: the command, what it sees of the machine, and which registry it reaches.
 * No package script runs: npm is told so, and pip accepts only wheels, which have none.
 */
import { existsSync, mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiagnosticCode } from "@metier/base/diagnostic";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { askNpmForDefault, askNpmForRegistry, findNpm, nodeRegistry, type Registry } from "@metier/install";
import type { Sandbox } from "@metier/sandbox";
import type { Config, EnvironmentsConfig } from "@metier/skills/config";
import type { EnvironmentKind, EnvironmentPlan } from "./environment-plan.ts";

interface InstallerHost {
  readonly places: Places;
  readonly environment: Environment;
  readonly config: Config;
  readonly sandbox: Sandbox;
}

export interface Installation {
  /** Started in the folder it may write to, which has the plan's files. */
  command(folder: string): readonly string[];
  /** Readable in addition to that folder. */
  readonly readable: readonly string[];
  readonly registry: Registry;
}

export interface InstallationFault {
  readonly code: Extract<DiagnosticCode, `environment.${string}`>;
  readonly message: string;
  readonly hint: string;
}

/** The folder that an installation leaves its packages in, which is also their name in the skill's folder. */
export const RESULT: Readonly<Record<EnvironmentKind, string>> = {
  node: "node_modules",
  python: "python_modules",
};

/**
 * What this machine trusts, where a sandbox sees it. npm and pip have their own lists, without a company's
 * certificates.
 */
const CERTIFICATES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].find((path) =>
  existsSync(path),
);

export function describeInstallation(
  plan: EnvironmentPlan,
  host: InstallerHost,
): Promise<Result<Installation, InstallationFault>> {
  return plan.kind === "node" ? describeNode(plan, host) : describePython(host);
}

/** What the packages are built for; they don't fit anything else. `undefined` if it isn't there. */
export async function runtimeOf(kind: EnvironmentKind, sandbox: Sandbox): Promise<string | undefined> {
  if (kind === "python") return (await findPython(sandbox))?.build;
  const [major = ""] = process.versions.node.split(".");
  return `${process.platform} ${process.arch} node ${major}`;
}

async function describeNode(
  plan: EnvironmentPlan,
  { places, environment, config }: InstallerHost,
): Promise<Result<Installation, InstallationFault>> {
  const npm = findNpm(environment);
  if (npm === undefined) {
    const hint = "Install npm, which comes with Node, and make sure it is on your PATH.";
    return refused(notBuilt("npm was not found.", hint));
  }
  const address = config.environments.nodeRegistry ?? (await askNpmForRegistry(npm, places, environment));
  const registry = nodeRegistry(address ?? "");
  if (registry === undefined) {
    const hint = 'Set one in your config: `[environments]` `node-registry = "https://…"`.';
    const message = "npm has no registry that works without a user name and password.";
    return refused(notBuilt(message, hint));
  }
  const foreign = findForeignPackage(plan, registry, await askNpmForDefault(npm));
  if (foreign) {
    return refused({
      code: "environment.source",
      message: `\`${foreign.name}\` comes from \`${foreign.url}\`, not from the registry \`${registry.url}\`.`,
      hint: "Use only packages from that registry, or set `environments.node-registry` to the right one.",
    });
  }
  return done({
    command: (folder) => [
      ...["node", npm.program, "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"],
      ...["--no-update-notifier", "--no-progress", "--no-color", "--loglevel=error", "--logs-max=0"],
      ...["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"],
      ...[`--registry=${registry.url}`, `--cache=${join(folder, ".npm")}`],
      ...(CERTIFICATES === undefined ? [] : [`--cafile=${CERTIFICATES}`]),
    ],
    readable: [npm.folder],
    registry,
  });
}

async function describePython({
  sandbox,
  config,
}: InstallerHost): Promise<Result<Installation, InstallationFault>> {
  const python = await findPython(sandbox);
  if (!python?.hasPip) {
    const hint =
      'Install it (`apt-get install python3-pip`), or set a Python that has it in `[sandbox]` `programs = ["…"]`.';
    return refused(notBuilt("the Python in the sandbox has no pip.", hint));
  }
  const registry = pythonIndex(config.environments);
  const { protocol, host } = new URL(registry.url);
  // pip must be told that an index without TLS is intended; with TLS, this would disable its check.
  const trusted = protocol === "http:" ? [`--trusted-host=${host}`] : [];
  return done({
    command: (folder) => [
      ...["python3", "-I", "-m", "pip", "--isolated", "install", "--only-binary=:all:", "--no-deps"],
      ...["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off", "--quiet"],
      ...["--retries=1", "--no-warn-script-location", `--index-url=${registry.url}`, ...trusted],
      ...(CERTIFICATES === undefined ? [] : [`--cert=${CERTIFICATES}`]),
      ...[`--target=${join(folder, RESULT.python)}`, "--requirement", join(folder, "requirements.txt")],
    ],
    readable: [],
    registry,
  });
}

export function notBuilt(message: string, hint: string): InstallationFault {
  return { code: "environment.not-built", message, hint };
}

interface Python {
  /** As in `3.11 linux-x86_64`: packages for one don't fit another. */
  readonly build: string;
  readonly hasPip: boolean;
}

const QUESTION = [
  "import importlib.util, sys, sysconfig",
  "print(sys.implementation.cache_tag, sysconfig.get_platform())",
  "print(importlib.util.find_spec('pip') is not None)",
].join("\n");

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4096 };

/** A sandbox doesn't change while we run. */
const known = new WeakMap<Sandbox, Promise<Python | undefined>>();

/** `undefined` if commands find no `python3`. */
export function findPython(sandbox: Sandbox): Promise<Python | undefined> {
  const asked = known.get(sandbox) ?? askPython(sandbox);
  known.set(sandbox, asked);
  return asked;
}

async function askPython(sandbox: Sandbox): Promise<Python | undefined> {
  const empty = realpathSync(mkdtempSync(join(tmpdir(), "metier-python-")));
  try {
    const world = {
      cwd: empty,
      workDir: empty,
      readable: [empty],
      writable: [],
      masked: [],
      protectedPaths: [],
    };
    const argv = ["python3", "-I", "-c", QUESTION];
    const { exitCode, stdout } = await sandbox.run({ argv, world, env: {}, limits: LIMITS });
    const [build = "", pip] = stdout.trim().split("\n");
    return exitCode === 0 && build !== "" ? { build, hasPip: pip === "True" } : undefined;
  } finally {
    rmdirSync(empty);
  }
}

const PYPI = "https://pypi.org/simple";
/** PyPI lists packages on one host and stores them on another. */
const PYPI_FILES = "files.pythonhosted.org";

/** Where a skill's packages come from: the Python package index, and whether a lock file stays with npm's registry. */
export function pythonIndex({ pythonIndex: url }: EnvironmentsConfig): Registry {
  if (url === undefined) return { url: PYPI, network: [new URL(PYPI).host, PYPI_FILES] };
  return { url, network: [new URL(url).host] };
}

/** The first package that npm would fetch from elsewhere. For `usual`, npm's own default, it asks the registry. */
export function findForeignPackage(
  { packages }: EnvironmentPlan,
  { url }: Registry,
  usual: string | undefined,
): EnvironmentPlan["packages"][number] | undefined {
  const isKnown = (from: string): boolean =>
    from.startsWith(url) || (usual !== undefined && from.startsWith(usual));
  return packages.find(({ url: from }) => from !== undefined && !isKnown(from));
}
