/** Queries on the current catalog that don't touch the disk, for a `Metier` and its views. */
import type { Catalog, Skill, SkillFilter } from "@metier/skills";
import { checkReading } from "./reading-options.ts";

/** Queries on the current catalog that don't touch the disk. */
export interface CatalogReading {
  /** Usable skills, sorted by name; the filter adds disabled, unavailable and shadowed ones. */
  list(filter?: SkillFilter): readonly Skill[];
  /** The skill with this name, whatever its status; `scope:name` finds shadowed ones. */
  get(name: string): Skill | undefined;
  /** Like `get`, but throws `SkillNotFoundError` if there is none. */
  require(name: string): Skill;
  /** Whether a skill with this name exists, whatever its status. */
  has(name: string): boolean;
  /** The names of the skills that `list` returns. */
  names(filter?: SkillFilter): readonly string[];
}

export function readCatalog(current: () => { readonly catalog: Catalog }): CatalogReading {
  return {
    list: (filter) => current().catalog.list(checkReading("list", filter)),
    get: (name) => current().catalog.get(name),
    require: (name) => current().catalog.require(name),
    has: (name) => current().catalog.has(name),
    names: (filter) => current().catalog.names(checkReading("names", filter)),
  };
}
