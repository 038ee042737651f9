/** The composition root: config, grants and sources become a catalog that can be asked, reloaded and watched. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Catalog, SkillFilter } from "../catalog/catalog.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { type ValidationReport, validateGiven, validatePaths } from "../catalog/validate-paths.ts";
import type { LoadedConfig } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { SkillConflictError, SkillNotFoundError } from "../foundation/errors.ts";
import { metierPlaces, type Places } from "../host/places.ts";
import { type ProjectFolders, projectFolders } from "../host/project-folders.ts";
import { watchFolders } from "../host/watch-folders.ts";
import type { Skill } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { StoredGrants } from "../trust/grant-store.ts";
import type { Profile } from "../validate/profiles.ts";
import { loadState, type MetierState, type Registration } from "./load-state.ts";
import type { MetierOptions } from "./metier-options.ts";
import { registeredSkills, requireRegistered } from "./registration.ts";

export interface Metier {
  /** The current snapshot. It never changes; `discover`, `reload` and a watch replace it. */
  readonly catalog: Catalog;
  readonly config: LoadedConfig;
  readonly grants: StoredGrants;
  /** Where skills are looked for. */
  readonly roots: readonly SkillRoot[];
  readonly places: Places;
  readonly project: ProjectFolders;
  /** Usable skills, sorted by name; the filter adds disabled, unavailable and shadowed ones. */
  list(filter?: SkillFilter): readonly Skill[];
  /** The skill that has this name, whatever its status; `scope:name` reaches shadowed ones. */
  get(name: string): Skill | undefined;
  /** Like `get`; a miss throws `SkillNotFoundError`. */
  require(name: string): Skill;
  has(name: string): boolean;
  names(filter?: SkillFilter): readonly string[];
  diagnostics(): readonly Diagnostic[];
  /** Checks a skill file, a skill folder, a tree of them, or a skill given as an object. Loads nothing. */
  validate(skill: string | URL | GivenSkill, profile?: Profile): Promise<ValidationReport>;
  /** Looks again; answers with the skills that are new. */
  discover(): Promise<readonly Skill[]>;
  /** Reads configuration, grants and all sources anew. On failure the old snapshot stays. */
  reload(): Promise<Catalog>;
  /** Adds a skill by path (scope `custom`, untrusted unless promoted) or as an object (scope `integration`). */
  register(skill: string | URL | GivenSkill): Promise<Skill>;
  /** Takes a registered skill away again; any other name throws `SkillNotFoundError`. */
  deregister(name: string): Promise<void>;
  /** Replaces the snapshot when a source changes, after a pause. The answer ends the watch. */
  watch(onChange: (outcome: WatchOutcome) => void): () => void;
}

/** A new snapshot, or the fault that made the old one stay. */
export type WatchOutcome = { readonly catalog: Catalog } | { readonly fault: unknown };

/** Reads configuration and, unless told not to, discovers skills. Nothing happens on import. */
export async function createMetier(options: MetierOptions = {}): Promise<Metier> {
  const registered: Registration[] = [];
  const places = metierPlaces(options.home);
  const cwd = resolve(options.cwd ?? process.cwd());
  const project = projectFolders(cwd, places.home);
  const load = async (discover: boolean | "auto"): Promise<MetierState> => {
    const next = await loadState({ options, cwd, places, project, registered }, discover);
    if (options.profile === "strict") refuseConflicts(next.catalog);
    return next;
  };
  const toPath = (path: string | URL): string =>
    resolve(cwd, path instanceof URL ? fileURLToPath(path) : path);
  let state = await load(options.autoDiscover ?? "auto");

  /** One change after the other, so that two registrations at once cannot lose each other. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(change: () => Promise<Value>): Promise<Value> => {
    const next = turn.then(change);
    turn = next.catch(() => undefined); // Whoever asked for the change gets its fault; the next one goes ahead.
    return next;
  };
  const reload = (): Promise<Catalog> =>
    inTurn(async () => {
      state = await load(true);
      return state.catalog;
    });

  return {
    get catalog() {
      return state.catalog;
    },
    get config() {
      return state.config;
    },
    get grants() {
      return state.grants;
    },
    get roots() {
      return state.roots;
    },
    places,
    project,
    list: (filter) => state.catalog.list(filter),
    get: (name) => state.catalog.get(name),
    require: (name) => state.catalog.require(name),
    has: (name) => state.catalog.has(name),
    names: (filter) => state.catalog.names(filter),
    diagnostics: () => state.catalog.diagnostics,
    validate: (skill, profile = options.profile ?? "standard") =>
      isPath(skill) ? validatePaths([toPath(skill)], profile) : validateGiven(skill, profile),
    reload,

    async discover() {
      const before = new Set(state.catalog.all.map(keyOf));
      const catalog = await reload();
      return catalog.all.filter((skill) => !before.has(keyOf(skill)));
    },

    register: (skill) =>
      inTurn(async () => {
        const registration = isPath(skill) ? toPath(skill) : skill;
        registered.push(registration);
        try {
          const next = await load(true);
          const added = requireRegistered(next.catalog, registration);
          state = next;
          return added;
        } catch (error) {
          registered.pop();
          throw error;
        }
      }),

    deregister: (name) =>
      inTurn(async () => {
        const index = registered.findIndex((entry) =>
          registeredSkills(state.catalog, entry).some((skill) => skill.name === name),
        );
        if (index === -1) {
          throw new SkillNotFoundError(name, undefined, {
            hint: "Only a registered skill can be taken away again.",
          });
        }
        registered.splice(index, 1);
        state = await load(true);
      }),

    watch: (onChange) =>
      watchFolders(
        state.roots.map(({ path }) => path),
        () =>
          reload().then(
            (catalog) => onChange({ catalog }),
            (fault: unknown) => onChange({ fault }),
          ),
      ),
  };
}

function isPath(skill: string | URL | GivenSkill): skill is string | URL {
  return typeof skill === "string" || skill instanceof URL;
}

function keyOf({ location, name }: Skill): string {
  return location || name;
}

function refuseConflicts(catalog: Catalog): void {
  const conflict = catalog.diagnostics.find(({ code }) => code === "catalog.conflict");
  if (!conflict) return;
  const loser = catalog.all.find(({ location }) => location === conflict.path);
  throw new SkillConflictError(loser?.name ?? "", [loser?.shadowedBy?.location ?? "", conflict.path]);
}
