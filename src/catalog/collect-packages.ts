/** The Debian packages that skills name: each once, sorted, with the skills that want it. Asks no package manager. */
import { compareText } from "../foundation/diagnostic.ts";
import type { Scope } from "../skill/scope.ts";
import type { Skill, Trust } from "../skill/skill.ts";

/** A skill as far as packages are concerned. */
export interface PackageUser {
  readonly name: string;
  readonly scope: Scope;
  readonly trust: Trust;
}

export interface WantedPackage {
  readonly name: string;
  /** In the order they were given. */
  readonly skills: readonly PackageUser[];
}

/** Of these skills those that can be used: neither disabled, unavailable nor shadowed. */
export function collectUsablePackages(skills: readonly Skill[]): readonly WantedPackage[] {
  const usable = skills.filter(({ status }) => status === "enabled");
  return collectPackages(
    usable.map(({ name, scope, trust, manifest }) => ({
      name,
      scope,
      trust: trust.level,
      packages: manifest.packages,
    })),
  );
}

export function collectPackages(
  skills: readonly (PackageUser & { readonly packages: readonly string[] })[],
): readonly WantedPackage[] {
  const wanted = new Map<string, PackageUser[]>();
  for (const { packages, name, scope, trust } of skills) {
    for (const wish of new Set(packages)) {
      wanted.set(wish, [...(wanted.get(wish) ?? []), { name, scope, trust }]);
    }
  }
  return [...wanted].sort(([a], [b]) => compareText(a, b)).map(([name, users]) => ({ name, skills: users }));
}
