/**
 * How each kind of environment is installed: the command, what it sees of the machine and which registry it reaches. No
 * script of any package is run: npm is told so, and pip takes only wheels, which have none.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import type { Environment } from "../../host/find-command.ts";
import type { Places } from "../../host/places.ts";
import { askNpmForDefault, askNpmForRegistry, findNpm } from "../../install/npm/find-npm.ts";
import { nodeRegistry, type Registry } from "../../install/npm/node-registry.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { EnvironmentKind, EnvironmentPlan } from "./environment-plan.ts";
import { findPython } from "./find-python.ts";
import { findForeignPackage, pythonIndex } from "./registry.ts";

export interface InstallerHost {
  readonly places: Places;
  readonly environment: Environment;
  readonly config: Config;
  readonly sandbox: Sandbox;
}

export interface Installation {
  /** Started in the folder it may write to, where the plan's files are. */
  command(folder: string): readonly string[];
  /** Seen read-only beside that folder. */
  readonly readable: readonly string[];
  readonly registry: Registry;
}

export interface InstallationFault {
  readonly code: Extract<DiagnosticCode, `environment.${string}`>;
  readonly message: string;
  readonly hint: string;
}

/** The folder that an installation leaves its packages in, which is also the name they have in the skill's folder. */
export const RESULT: Readonly<Record<EnvironmentKind, string>> = {
  node: "node_modules",
  python: "python_modules",
};

/** What this machine trusts, where a sandbox sees it. npm and pip bring lists of their own, without a company's. */
const CERTIFICATES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].find((path) =>
  existsSync(path),
);

export function describeInstallation(
  plan: EnvironmentPlan,
  host: InstallerHost,
): Promise<Installation | InstallationFault> {
  return plan.kind === "node" ? describeNode(plan, host) : describePython(host);
}

/** What the packages are for; those for one do not fit another. `undefined` where it is not there. */
export async function runtimeOf(kind: EnvironmentKind, sandbox: Sandbox): Promise<string | undefined> {
  if (kind === "python") return (await findPython(sandbox))?.build;
  const [major = ""] = process.versions.node.split(".");
  return `${process.platform} ${process.arch} node ${major}`;
}

async function describeNode(
  plan: EnvironmentPlan,
  { places, environment, config }: InstallerHost,
): Promise<Installation | InstallationFault> {
  const npm = findNpm(environment);
  if (npm === undefined) {
    return missing("npm is not found.", "Install npm, which comes with Node, so that `npm` is on your PATH.");
  }
  const address = config.environments.nodeRegistry ?? (await askNpmForRegistry(npm, places, environment));
  const registry = nodeRegistry(address ?? "");
  if (registry === undefined) {
    return missing(
      "npm names no registry that can be reached without a user name and password.",
      'Set one in your config: `[environments]` `node-registry = "https://…"`.',
    );
  }
  const foreign = findForeignPackage(plan, registry, await askNpmForDefault(npm));
  if (foreign) {
    return {
      code: "environment.source",
      message: `\`${foreign.name}\` comes from \`${foreign.url}\`, not from the registry \`${registry.url}\`.`,
      hint: "Use packages of the registry alone, or set `environments.node-registry` to the one you mean.",
    };
  }
  return {
    command: (folder) => [
      ...["node", npm.program, "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"],
      ...["--no-update-notifier", "--no-progress", "--no-color", "--loglevel=error", "--logs-max=0"],
      ...["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"],
      ...[`--registry=${registry.url}`, `--cache=${join(folder, ".npm")}`],
      ...(CERTIFICATES === undefined ? [] : [`--cafile=${CERTIFICATES}`]),
    ],
    readable: [npm.folder],
    registry,
  };
}

async function describePython({ sandbox, config }: InstallerHost): Promise<Installation | InstallationFault> {
  const python = await findPython(sandbox);
  if (!python?.hasPip) {
    return missing(
      "the Python that sandboxed commands find has no pip.",
      'Install it (`apt-get install python3-pip`), or name a Python that has it in `[sandbox]` `programs = ["…"]`.',
    );
  }
  const registry = pythonIndex(config.environments);
  const { protocol, host } = new URL(registry.url);
  // pip wants to be told that an index without TLS is meant; with TLS this would switch its check off.
  const trusted = protocol === "http:" ? [`--trusted-host=${host}`] : [];
  return {
    command: (folder) => [
      ...["python3", "-I", "-m", "pip", "--isolated", "install", "--only-binary=:all:", "--no-deps"],
      ...["--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off", "--quiet"],
      ...["--retries=1", "--no-warn-script-location", `--index-url=${registry.url}`, ...trusted],
      ...(CERTIFICATES === undefined ? [] : [`--cert=${CERTIFICATES}`]),
      ...[`--target=${join(folder, RESULT.python)}`, "--requirement", join(folder, "requirements.txt")],
    ],
    readable: [],
    registry,
  };
}

function missing(message: string, hint: string): InstallationFault {
  return { code: "environment.not-built", message, hint };
}
