/**
 * Which system packages `metier setup` would install: missing ones of trusted skills that the archive has. Every other one
 * is left out with the reason. Decides and asks; installs nothing.
 */
import { createCommandFinder, type Environment } from "../../host/find-command.ts";
import { findArchivePackages } from "../../sandbox/debian-packages.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import type { PackageState } from "../describe-packages.ts";

export interface DecidedPackage extends PackageState {
  readonly status: "installed" | "to-install" | "left-out";
  /** Why it is left out. */
  readonly reason?: string;
}

export interface PackageDecision {
  readonly packages: readonly DecidedPackage[];
  /** What installs those that are to be installed. */
  readonly command?: readonly string[];
  /** Whether this system has apt at all. */
  readonly hasApt: boolean;
}

const INSTALL = ["apt-get", "install", "-y", "--no-install-recommends"];

export async function decidePackages(
  states: readonly PackageState[],
  environment: Environment,
): Promise<PackageDecision> {
  const hasApt = createCommandFinder(environment)("apt-get") !== undefined;
  const wanted = states.filter((state) => !state.installed && isForTrusted(state)).map(({ name }) => name);
  const archive = hasApt ? await findArchivePackages(wanted, environment) : undefined;
  const packages = states.map((state): DecidedPackage => {
    if (state.installed) return { ...state, status: "installed" };
    const reason = whyLeftOut(state, hasApt, archive);
    return reason === undefined
      ? { ...state, status: "to-install" }
      : { ...state, status: "left-out", reason };
  });
  const names = packages.filter(({ status }) => status === "to-install").map(({ name }) => name);
  if (names.length === 0) return { packages, hasApt };
  return { packages, hasApt, command: [...(isRoot() ? [] : ["sudo"]), ...INSTALL, ...names] };
}

function isForTrusted({ skills }: PackageState): boolean {
  return skills.some(({ trust }) => trustAllows(trust, "install-system-packages"));
}

function whyLeftOut(
  state: PackageState,
  hasApt: boolean,
  archive: ReadonlySet<string> | undefined,
): string | undefined {
  if (!isForTrusted(state)) {
    const [first] = state.skills;
    return `no trusted skill wants it; \`metier trust ${first?.scope}:${first?.name}\` trusts the one that does`;
  }
  if (!hasApt) return "this system has no apt: install what it calls this package by hand";
  if (archive === undefined) return "there is no `apt-cache` that could say whether the archive has it";
  if (archive.has(state.name)) return undefined;
  return "it is not in the archive that apt knows; `apt-get update` may bring it";
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
