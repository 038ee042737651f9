/** The composition root: config, grants and sources become a catalog that can be asked, reloaded and watched. */
import { resolve } from "node:path";
import type { Catalog, SkillFilter } from "../catalog/catalog.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { type ValidationReport, validateGiven, validatePaths } from "../catalog/validate-paths.ts";
import type { LoadedConfig } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { SkillConflictError, SkillNotFoundError } from "../foundation/errors.ts";
import { isInside, metierPlaces, type Places } from "../host/places.ts";
import { type ProjectFolders, projectFolders } from "../host/project-folders.ts";
import { watchFolders } from "../host/watch-folders.ts";
import { projectLockFile, userLockFile } from "../lock/lock-places.ts";
import type { Skill } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { StoredGrants } from "../trust/grant-store.ts";
import type { Profile } from "../validate/profiles.ts";
import { type Capabilities, createCapabilities } from "./capabilities.ts";
import { checkOptions } from "./check-options.ts";
import { createDisclosure, type Disclosure } from "./disclosure.ts";
import { createHolding } from "./holding.ts";
import { createInstalling, type Installing } from "./installing.ts";
import { loadState, type MetierState } from "./load-state.ts";
import type { MetierOptions } from "./metier-options.ts";
import { isRegisteredAs, refuseKnown, requireRegistered, toRegistration } from "./registration.ts";
import { createRemote, type Remote } from "./remote.ts";
import { createRunning, type Running } from "./running.ts";
import { createScanning, type Scanning } from "./scanning.ts";
import type { Discovery, Wanted } from "./wanted.ts";

export interface Metier extends Disclosure, Running, Installing, Scanning {
  /** The current snapshot. It never changes; `discover`, `reload` and a watch replace it. */
  readonly catalog: Catalog;
  readonly config: LoadedConfig;
  readonly grants: StoredGrants;
  /** Where skills are looked for. */
  readonly roots: readonly SkillRoot[];
  readonly places: Places;
  readonly project: ProjectFolders;
  /** What providers do for a user, outside of runs too. */
  readonly capabilities: Capabilities;
  /** The MCP servers whose skills are in the catalog. */
  readonly remote: Remote;
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
  /**
   * Looks again, also in the standard directories where `skills.auto-discover` is off (but not against the policy);
   * answers with the skills that are new.
   */
  discover(): Promise<readonly Skill[]>;
  /** Reads configuration, grants and all sources anew. On failure the old snapshot stays. */
  reload(): Promise<Catalog>;
  /**
   * Adds a skill by path (scope `custom`, untrusted unless promoted) or as an object (scope `integration`). One that is
   * there already, or a second of its name in its scope, throws `SkillConflictError`.
   */
  register(skill: string | URL | GivenSkill): Promise<Skill>;
  /** Takes away again whatever was registered by this name; any other name throws `SkillNotFoundError`. */
  deregister(name: string): Promise<void>;
  /** Replaces the snapshot when a source changes, after a pause. The answer ends the watch. */
  watch(onChange: (outcome: WatchOutcome) => void): () => void;
}

/** A new snapshot, or the fault that made the old one stay. */
export type WatchOutcome = { readonly catalog: Catalog } | { readonly fault: unknown };

/**
 * Reads configuration and, unless told not to, discovers skills. Nothing happens on import. Throws `UsageError` for
 * options that are not known or not allowed.
 */
export async function createMetier(options: MetierOptions = {}): Promise<Metier> {
  return createMetierUnder(undefined, options);
}

/** The same with another policy than the machine's: for tests, and not exported by the library. */
export async function createMetierUnder(
  policyFile: string | undefined,
  options: MetierOptions,
): Promise<Metier> {
  checkOptions(options);
  const { profile = "standard", conflicts = profile === "strict" ? "throw" : "report" } = options;
  const places = metierPlaces(options.home, options.environment);
  const cwd = resolve(options.cwd ?? process.cwd());
  const project = projectFolders(cwd, places.home);
  const load = async (wanted: Wanted): Promise<MetierState> => {
    const next = await loadState({ options, cwd, places, project, policyFile }, wanted);
    if (conflicts === "throw") refuseConflicts(next.catalog);
    return next;
  };
  let state = await load({ discovery: firstDiscovery(options), registered: [] });

  /** One change after the other, so that two registrations at once cannot lose each other. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(change: () => Promise<Value>): Promise<Value> => {
    const next = turn.then(change);
    turn = next.catch(() => undefined); // Whoever asked for the change gets its fault; the next one goes ahead.
    return next;
  };
  const reload = (): Promise<Catalog> =>
    inTurn(async () => {
      const discovery = state.discovery === "none" ? "configured" : state.discovery;
      state = await load({ ...state, discovery });
      return state.catalog;
    });

  const given = (): readonly GivenSkill[] =>
    [...(options.integrations ?? []), ...state.registered].filter((entry) => typeof entry !== "string");
  const cacheFolder = options.index === false ? undefined : places.cache;
  const environment = options.environment ?? process.env;
  const { remote, ready } = createRemote({ current: () => state, reload, places, environment });
  const holding = createHolding({ current: () => state, ready, cacheFolder });
  const { load: loadSkill } = remote;
  const disclosure = createDisclosure({
    current: () => state,
    given,
    holding,
    load: loadSkill,
    profile,
    cacheFolder,
  });
  const { capabilities, forRuns } = createCapabilities({
    config: () => state.config,
    options: options.capabilities ?? {},
    places,
    environment,
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
    capabilities,
    remote,
    list: (filter) => state.catalog.list(filter),
    get: (name) => state.catalog.get(name),
    require: (name) => state.catalog.require(name),
    has: (name) => state.catalog.has(name),
    names: (filter) => state.catalog.names(filter),
    diagnostics: () => state.catalog.diagnostics,
    ...disclosure,
    ...createRunning({
      current: () => state,
      reload,
      given,
      disclosure,
      holding,
      ready,
      options,
      profile,
      places,
      cwd,
      environment,
      capabilities: forRuns,
    }),
    ...createScanning({ current: () => state, load: loadSkill, cwd }),
    ...createInstalling({
      current: () => state,
      reload,
      profile,
      places,
      project,
      cwd,
      environment,
    }),
    reload,

    async validate(skill, under = profile) {
      const subject = toRegistration(skill, places.home, cwd);
      return typeof subject === "string" ? validatePaths([subject], under) : validateGiven(subject, under);
    },

    discover: () =>
      inTurn(async () => {
        const before = new Set(state.catalog.all.map(keyOf));
        state = await load({ ...state, discovery: "asked" });
        return state.catalog.all.filter((skill) => !before.has(keyOf(skill)));
      }),

    register: (skill) =>
      inTurn(async () => {
        const registration = toRegistration(skill, places.home, cwd);
        refuseKnown(state, registration);
        const next = await load({ ...state, registered: [...state.registered, registration] });
        const added = requireRegistered(next, registration, profile);
        state = next;
        return added;
      }),

    deregister: (name) =>
      inTurn(async () => {
        const registered = state.registered.filter((entry) => !isRegisteredAs(name, entry, state.catalog));
        if (registered.length === state.registered.length) {
          throw new SkillNotFoundError(name, undefined, {
            hint: "Only a registered skill can be taken away again.",
          });
        }
        state = await load({ ...state, registered });
      }),

    watch: (onChange) =>
      watchFolders(
        // Folders of the store never change; the locks say which ones count.
        () => state.roots.filter(({ path }) => !isInside(path, places.store)).map(({ path }) => path),
        () =>
          reload().then(
            (catalog) => onChange({ catalog }),
            (fault: unknown) => onChange({ fault }),
          ),
        { files: [userLockFile(places).path, projectLockFile(project.root).path] },
      ),
  };
}

function firstDiscovery({ autoDiscover }: MetierOptions): Discovery {
  if (autoDiscover === undefined) return "configured";
  return autoDiscover ? "asked" : "none";
}

function keyOf({ location, name }: Skill): string {
  return location || name;
}

function refuseConflicts({ all, diagnostics }: Catalog): void {
  const conflict = diagnostics.find(({ code }) => code === "catalog.conflict");
  if (!conflict) return;
  const loser = all.find(
    (skill) => skill.location === conflict.path && skill.shadowedBy?.scope === skill.scope,
  );
  const paths = [loser?.shadowedBy?.location ?? "", conflict.path];
  throw new SkillConflictError(
    loser?.name ?? "",
    paths.map((path) => path || "given as an object"),
  );
}
