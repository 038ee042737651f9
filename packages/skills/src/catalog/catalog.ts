/**
 * The catalog: an immutable snapshot of which skills won, are shadowed, disabled or unavailable, and every diagnostic.
 * Built by `build-catalog.ts`; queries never read the disk.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import { SkillNotFoundError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { compareText, forReader, tellMoved } from "@metier/base/text";
import type { Skill, Trust } from "../skill/skill.ts";
import { nearSkills, parseSkillAddress, type Scope } from "../skill/skill-name.ts";
import type { RootOutcome } from "../sources/search.ts";
import type { RootKind } from "../trust/decide-trust.ts";

/** A searched path, whether or not it exists. */
export interface SearchedPlace {
  /** The scope of the skills found here. */
  readonly scope: Scope;
  /** The directory or file; for installed skills the lock file, for a program source `source:<name>`. */
  readonly path: string;
  /** The result of searching it. */
  readonly outcome: RootOutcome;
  /** Its meaning for trust. */
  readonly kind: RootKind;
  /** How many loadable skills it contains. */
  readonly skills: number;
}

/** Which skills `list` and `names` return; without a filter, the enabled ones of all scopes. */
export interface SkillFilter {
  /** Also skills that the configuration turns off, and opt-in skills nobody enabled. Default: `false`. */
  readonly includeDisabled?: boolean;
  /** Also skills that lack something on this machine. Default: `false`. */
  readonly includeUnavailable?: boolean;
  /** Also skills shadowed by another one of the same name. Default: `false`. */
  readonly includeShadowed?: boolean;
  /** Only skills of this scope. Default: all scopes. */
  readonly scope?: Scope;
}

const FILTER: OptionKeys<SkillFilter> = {
  includeDisabled: true,
  includeUnavailable: true,
  includeShadowed: true,
  scope: true,
};

/**
 * A snapshot of every skill that was found, with its status, its trust and all diagnostics. It never changes; a reload
 * makes a new one.
 *
 * @example
 * ```ts
 * const metier = await createMetier();
 * const catalog: Catalog = metier.catalog;
 * for (const skill of catalog.list()) console.log(skill.name, skill.description);
 * const deploy = catalog.require("project:deploy"); // throws SkillNotFoundError
 * ```
 */
export class Catalog {
  /** Every loadable skill: by name, winner first, then the ones it shadows. */
  readonly all: readonly Skill[];
  /** Every problem in the config, the directories and the skills, including those that cannot be loaded. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every searched path, with what was found there. */
  readonly places: readonly SearchedPlace[];
  /** By name; built on first use. */
  #winners: ReadonlyMap<string, Skill> | undefined;

  constructor(all: readonly Skill[], diagnostics: readonly Diagnostic[], places: readonly SearchedPlace[]) {
    this.all = Object.freeze([...all]);
    this.diagnostics = Object.freeze([...diagnostics]);
    this.places = Object.freeze([...places]);
    Object.freeze(this);
  }

  #byName(): ReadonlyMap<string, Skill> {
    if (this.#winners !== undefined) return this.#winners;
    const winners = new Map<string, Skill>();
    for (const skill of this.all) if (skill.status !== "shadowed") winners.set(skill.name, skill);
    this.#winners = winners;
    return winners;
  }

  /** By name the winner, whatever its status; by `scope:name` that one, shadowed or not. */
  get(address: string): Skill | undefined {
    const { scope, name } = parseSkillAddress(address);
    if (scope === undefined) return this.#byName().get(name);
    return this.all.find((skill) => skill.name === name && skill.scope === scope);
  }

  /** Like `get`, but throws `SkillNotFoundError` with similar names if there is none. */
  require(address: string): Skill {
    const skill = this.get(address);
    if (skill) return skill;
    const names = [...this.#byName().keys()].sort(compareText);
    const { name: wanted } = parseSkillAddress(address);
    const near = nearSkills(wanted, names);
    const hint =
      tellMoved(wanted) ??
      (near.length > 0
        ? `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`
        : names.length > 0
          ? `Available skills: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}.`
          : forReader({
              command: "No skills found; `metier doctor` lists every searched directory.",
              program: "No skills found; `catalog.places` lists every searched directory.",
            }));
    throw new SkillNotFoundError(address, undefined, { hint });
  }

  /** Whether `get` returns a skill, whatever its status. */
  has(address: string): boolean {
    return this.get(address) !== undefined;
  }

  /** Usable skills, sorted by name; the filter adds the others. */
  list(filter: SkillFilter = {}): readonly Skill[] {
    checkKeys("catalog.list", filter, FILTER);
    return this.all.filter(
      (skill) =>
        (filter.scope === undefined || skill.scope === filter.scope) &&
        (skill.status === "enabled" ||
          (skill.status === "disabled" && filter.includeDisabled) ||
          (skill.status === "unavailable" && filter.includeUnavailable) ||
          (skill.status === "shadowed" && filter.includeShadowed)),
    );
  }

  /** The names of `list(filter)`; with `includeShadowed` a name can occur more than once. */
  names(filter: SkillFilter = {}): readonly string[] {
    return this.list(filter).map((skill) => skill.name);
  }
}

/** A skill as far as packages are concerned. */
export interface PackageUser {
  readonly name: string;
  readonly scope: Scope;
  readonly trust: Trust;
}

export interface WantedPackage {
  readonly name: string;
  /** In the given order. */
  readonly skills: readonly PackageUser[];
}

/** The Debian packages that usable skills name: those that are not disabled, unavailable or shadowed. */
export function collectUsablePackages(skills: readonly Skill[]): readonly WantedPackage[] {
  const usable = skills
    .filter(({ status }) => status === "enabled")
    .map(({ name, scope, trust, manifest: { packages } }) => ({ name, scope, trust: trust.level, packages }));
  return collectPackages(usable);
}

/** Each once, sorted, with the skills that want it. Asks no package manager. */
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
