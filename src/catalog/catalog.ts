/**
 * The catalog: an immutable snapshot of who won, who is shadowed, disabled or unavailable, and every diagnostic.
 * Built by `build-catalog.ts`; asking it never touches the disk.
 */
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import { SkillNotFoundError } from "../foundation/errors.ts";
import { nearSkills } from "../skill/remote-name.ts";
import { parseSkillAddress, type Scope } from "../skill/scope.ts";
import type { Skill } from "../skill/skill.ts";
import type { ScanOutcome } from "../sources/scan.ts";
import type { RootKind } from "../trust/decide-trust.ts";

/** A place that was searched, whether or not it exists. */
export interface SearchedPlace {
  readonly scope: Scope;
  readonly path: string;
  /** What became of it. */
  readonly outcome: ScanOutcome;
  /** What it means for trust. */
  readonly kind: RootKind;
  /** How many skills that can be loaded were found in it. */
  readonly skills: number;
}

export interface SkillFilter {
  readonly includeDisabled?: boolean;
  readonly includeUnavailable?: boolean;
  readonly includeShadowed?: boolean;
  readonly scope?: Scope;
}

export class Catalog {
  /** Every skill that was found and can be loaded: by name, winner first, then the ones it hides. */
  readonly all: readonly Skill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly places: readonly SearchedPlace[];
  readonly #winners: ReadonlyMap<string, Skill>;

  constructor(all: readonly Skill[], diagnostics: readonly Diagnostic[], places: readonly SearchedPlace[]) {
    this.all = Object.freeze([...all]);
    this.diagnostics = Object.freeze([...diagnostics]);
    this.places = Object.freeze([...places]);
    const winners = new Map<string, Skill>();
    for (const skill of all) if (skill.status !== "shadowed") winners.set(skill.name, skill);
    this.#winners = winners;
    Object.freeze(this);
  }

  /** By name the winner, whatever its status; by `scope:name` that one, shadowed or not. */
  get(address: string): Skill | undefined {
    const { scope, name } = parseSkillAddress(address);
    if (scope === undefined) return this.#winners.get(name);
    return this.all.find((skill) => skill.name === name && skill.scope === scope);
  }

  /** Like `get`, but a miss throws `SkillNotFoundError` naming near names. */
  require(address: string): Skill {
    const skill = this.get(address);
    if (skill) return skill;
    const names = [...this.#winners.keys()].sort(compareText);
    const near = nearSkills(parseSkillAddress(address).name, names);
    const hint =
      near.length > 0
        ? `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`
        : names.length > 0
          ? `Available skills: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}.`
          : "No skills were found; `metier doctor` lists every directory that was searched.";
    throw new SkillNotFoundError(address, undefined, { hint });
  }

  has(address: string): boolean {
    return this.get(address) !== undefined;
  }

  /** Usable skills, sorted by name; the filter adds the others. */
  list(filter: SkillFilter = {}): readonly Skill[] {
    return this.all.filter(
      (skill) =>
        (filter.scope === undefined || skill.scope === filter.scope) &&
        (skill.status === "enabled" ||
          (skill.status === "disabled" && filter.includeDisabled) ||
          (skill.status === "unavailable" && filter.includeUnavailable) ||
          (skill.status === "shadowed" && filter.includeShadowed)),
    );
  }

  names(filter: SkillFilter = {}): readonly string[] {
    return this.list(filter).map((skill) => skill.name);
  }
}
