/** Whether this machine has the system packages that skills want: for `doctor` and `setup`. */
import type { PackageUser, WantedPackage } from "../catalog/collect-packages.ts";
import type { Environment } from "../host/find-command.ts";

export interface PackageState extends WantedPackage {
  /** `null`: this system has no `dpkg-query` to ask. */
  readonly installed: boolean | null;
}

export async function describePackages(
  wanted: readonly WantedPackage[],
  environment: Environment,
): Promise<readonly PackageState[]> {
  if (wanted.length === 0) return [];
  const { findInstalledPackages } = await import("../sandbox/debian-packages.ts");
  const names = wanted.map(({ name }) => name);
  const installed = await findInstalledPackages(names, environment);
  return wanted.map((entry) => ({ ...entry, installed: installed?.has(entry.name) ?? null }));
}

/** `jq: missing (user:pdf, custom:scan untrusted)` */
export function packageLine({ name, installed, skills }: PackageState): string {
  const state = installed === null ? "not known" : installed ? "installed" : "missing";
  return `${name}: ${state} (${usersText(skills)})`;
}

/** Addresses, so that each can be given to `metier trust`. */
export function usersText(skills: readonly PackageUser[]): string {
  return skills
    .map(({ name, scope, trust }) => `${scope}:${name}${trust === "untrusted" ? " untrusted" : ""}`)
    .join(", ");
}
