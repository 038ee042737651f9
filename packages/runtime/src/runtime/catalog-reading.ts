/** What can be asked of the current catalog without touching the disk: by a `Metier`, and by a view of it. */
import type { Catalog, Skill, SkillFilter } from "@metier/skills";
import { checkReading } from "./reading-options.ts";

/** What can be asked of the current catalog without touching the disk. */
export interface CatalogReading {
  /** Usable skills, sorted by name; the filter adds disabled, unavailable and shadowed ones. */
  list(filter?: SkillFilter): readonly Skill[];
  /** The skill that has this name, whatever its status; `scope:name` reaches shadowed ones. */
  get(name: string): Skill | undefined;
  /** Like `get`; a miss throws `SkillNotFoundError`. */
  require(name: string): Skill;
  /** Whether there is a skill of this name, whatever its status. */
  has(name: string): boolean;
  /** The names of what `list` answers with. */
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
