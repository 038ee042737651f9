/** The composition root: turns config, grants and sources into a catalog that can be queried, reloaded and watched. */

import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { openHostCalls } from "@metier/base/diagnostic";
import { watchFolders } from "@metier/base/files";
import {
  isInside,
  metierPlaces,
  type Places,
  type ProjectFolders,
  projectFolders,
} from "@metier/base/places";
import { outsideEnvironment } from "@metier/base/programs";
import { openKeeping } from "@metier/run/events";
import {
  type Catalog,
  type GivenSkill,
  type Profile,
  type Skill,
  type SkillRoot,
  type ValidationReport,
  validateGiven,
} from "@metier/skills";
import type { LoadedConfig } from "@metier/skills/config";
import { projectLockFile, type StoredGrants, userLockFile } from "@metier/skills/trust";
import { watchBrought } from "./brought-skills.ts";
import { type Capabilities, createCapabilities } from "./capabilities.ts";
import { type CatalogReading, readCatalog } from "./catalog-reading.ts";
import { createDisclosure, type Disclosure } from "./disclosure.ts";
import type { DurableRuns } from "./durable-runs.ts";
import { createInstalling, type Installing } from "./installing.ts";
import type { LoadInputs, MetierParts } from "./load-state.ts";
import { checkOptions, completeEnvironment, type MetierOptions } from "./metier-options.ts";
import { createRemote, type Remote } from "./remote.ts";
import { createRunning, followAgents, type Running } from "./running.ts";
import { createRuns, type Runs } from "./runs.ts";
import { createScanGate, createScanning, type Scanning } from "./scanning.ts";
import { openSnapshots, type Snapshots, toRegistration } from "./snapshots.ts";
import { validateWhole } from "./validate-beside.ts";
import { createViews, type MetierView, type ViewParts } from "./view.ts";
import type { ViewOptions } from "./view-options.ts";

/**
 * Everything a program does with skills: find, read, run, install and scan them. Create one with `createMetier`.
 *
 * @example
 * ```ts
 * const metier: Metier = await createMetier();
 * console.log(metier.names());
 * const { status, text } = await metier.run({ skill: "report", message: "What is new?" });
 * ```
 */
export interface Metier extends CatalogReading, Disclosure, Running, Installing, Scanning {
  /** The current snapshot. It never changes; `discover`, `reload` and a watch replace it. */
  readonly catalog: Catalog;
  /** The configuration of the current snapshot, with the origin of each value. */
  readonly config: LoadedConfig;
  /** The folders and skills that the user trusts, as of the current snapshot. */
  readonly grants: StoredGrants;
  /** Where skills are searched. */
  readonly roots: readonly SkillRoot[];
  /** Where Metier keeps its own files, all under the home folder. */
  readonly places: Places;
  /** The project around `cwd`: its root, and the folders searched for its skills. */
  readonly project: ProjectFolders;
  /** What providers do for a user, including outside of runs. */
  readonly capabilities: Capabilities;
  /** The kept runs: list, read and delete them, by user. */
  readonly runs: Runs;
  /** Runs that survive their process; they need `journal` and `engine`. */
  readonly durable: DurableRuns;
  /** The MCP servers whose skills are in the catalog. */
  readonly remote: Remote;
  /**
   * All of this for one user, with their own working directory, values, tools, skills and limits; views are isolated
   * from each other. It reads nothing and costs almost nothing: create one per request.
   *
   * @example
   * ```ts
   * const view = metier.for({ userId: "ada", tenantId: "acme", cwd: "/srv/files/ada" });
   * const { text } = await view.run({ skill: "report", message: "What is new?" });
   * ```
   */
  for(options: ViewOptions): MetierView;
  /** Problems with skills, sources and configuration. */
  diagnostics(): readonly Diagnostic[];
  /**
   * Checks a skill file, a skill folder, a tree of them (with their evals and test files), or a skill passed as an
   * object. Loads nothing.
   */
  validate(skill: string | URL | GivenSkill, profile?: Profile): Promise<ValidationReport>;
  /**
   * Searches again, including the standard directories if `skills.auto-discover` is off (unless the policy forbids it),
   * and returns the new skills.
   */
  discover(): Promise<readonly Skill[]>;
  /** Reads configuration, grants and all sources again. If that fails, the old snapshot stays. */
  reload(): Promise<Catalog>;
  /**
   * Adds a skill by path (scope `custom`, untrusted unless promoted) or as an object (scope `integration`). Throws
   * `SkillConflictError` if it already exists or its scope has another skill with its name.
   */
  register(skill: string | URL | GivenSkill): Promise<Skill>;
  /** Removes what was registered with this name; any other name throws `SkillNotFoundError`. */
  deregister(name: string): Promise<void>;
  /** Replaces the snapshot when a source changes, after a pause. The returned function stops the watch. */
  watch(onChange: (outcome: WatchOutcome) => unknown): () => void;
}

/** A new snapshot, or the error that kept the old one. */
export type WatchOutcome = { readonly catalog: Catalog } | { readonly fault: unknown };

/**
 * Reads configuration and, by default, discovers skills. Nothing happens on import. Throws `UsageError` for
 * unknown or invalid options.
 *
 * @example
 * ```ts
 * import { createMetier } from "metier";
 * const metier = await createMetier({ cwd: process.cwd(), models: { default: "anthropic/claude-sonnet-5-5" } });
 * const { status, text } = await metier.run({ skill: "report", message: "What is new?" });
 * ```
 */
export async function createMetier(options: MetierOptions = {}): Promise<Metier> {
  return createMetierUnder(undefined, options);
}

/** The same with a policy other than the machine's: for tests, and not exported by the library. */
export async function createMetierUnder(
  policyFile: string | undefined,
  given: MetierOptions,
): Promise<Metier> {
  checkOptions(given);
  const options = { ...given, environment: completeEnvironment(given.environment) };
  const places = metierPlaces(options.home, options.environment);
  const cwd = resolve(options.cwd ?? process.cwd());
  const project = projectFolders(cwd, places.home);
  const inside = { project: project.root, home: places.home };
  // From here on, programs inside the project are never found.
  const environment = outsideEnvironment(options.environment ?? process.env, inside);
  const inputs = { options: { ...options, environment }, cwd, places, project };
  const snapshots = await openSnapshots({ ...inputs, policyFile });
  return compose(snapshots, inputs);
}

/** Everything a `Metier` can do, on the snapshot that is current at the time. */
function compose(
  snapshots: Snapshots,
  { options, cwd, places, project }: Omit<LoadInputs, "policyFile">,
): Metier {
  const { current, reload } = snapshots;
  const { profile = "standard", environment = process.env } = options;
  const shared: MetierParts = {
    current,
    reload,
    given: () =>
      [...(options.integrations ?? []), ...current().registered].filter((entry) => typeof entry !== "string"),
    profile,
    places,
    project,
    cwd,
    environment,
    cacheFolder: options.index === false ? undefined : places.cache,
  };
  const tell = openHostCalls(options.logger);
  const { remote, ready } = createRemote(shared);
  const disclosure = createDisclosure(shared, remote.load, tell);
  const { capabilities, forRuns } = createCapabilities({
    ...shared,
    config: () => current().config,
    options: options.capabilities ?? {},
  });
  const parts: ViewParts = {
    ...shared,
    base: cwd,
    disclosure,
    scanGate: createScanGate(shared, ready),
    ready,
    options,
    capabilities: forRuns,
    keeping: openKeeping(places, options.runs, options.logger),
    offered: capabilities,
    load: remote.load,
    agents: followAgents(current, options.agents),
    had: { cwd: options.cwd === undefined ? undefined : cwd },
  };
  const can = {
    ...readCatalog(current),
    ...disclosure,
    ...createRunning(parts),
    for: createViews(parts),
    ...createScanning(shared, remote.load, tell),
    ...createInstalling(shared, tell),
    capabilities,
    remote,
    runs: createRuns(parts.keeping),
  };
  return addSnapshot(can, snapshots, { options, cwd, places, project });
}

type OverSnapshot = "diagnostics" | "catalog" | "config" | "grants" | "roots" | "places" | "project";
type OfSources = "reload" | "discover" | "register" | "deregister" | "validate" | "watch";

/** The current snapshot, and what changes it. */
function addSnapshot(
  can: Omit<Metier, OverSnapshot | OfSources>,
  snapshots: Snapshots,
  { options, cwd, places, project }: Omit<LoadInputs, "policyFile">,
): Metier {
  const { current, reload, discover, deregister } = snapshots;
  const { profile = "standard" } = options;
  const tell = openHostCalls(options.logger);
  return {
    ...can,
    diagnostics: () => current().catalog.diagnostics,
    get catalog() {
      return current().catalog;
    },
    get config() {
      return current().config;
    },
    get grants() {
      return current().grants;
    },
    get roots() {
      return current().roots;
    },
    places,
    project,
    reload,
    discover,
    register: async (skill) => snapshots.register(toRegistration(skill, places.home, cwd)),
    deregister,
    async validate(skill, under = profile) {
      const subject = toRegistration(skill, places.home, cwd);
      return typeof subject === "string" ? validateWhole([subject], under) : validateGiven(subject, under);
    },
    watch: (onChange) =>
      watchSources(snapshots, { places, project, sources: options.sources ?? [] }, (outcome) =>
        tell("watch", onChange, outcome),
      ),
  };
}

function watchSources(
  { current, reload }: Pick<Snapshots, "current" | "reload">,
  { places, project, sources }: Pick<Metier, "places" | "project"> & Required<Pick<MetierOptions, "sources">>,
  onChange: (outcome: WatchOutcome) => void,
): () => void {
  const onFault = (fault: unknown): void => onChange({ fault });
  const readAgain = (): Promise<void> => reload().then((catalog) => onChange({ catalog }), onFault);
  const stopSources = watchBrought({ sources }, readAgain, onFault);
  const stopFolders = watchFolders(
    () => {
      const paths = current().roots.flatMap(({ path, source }) => (source ? [] : [path]));
      return paths.filter((path) => !isInside(path, places.store)); // They never change; the locks decide which ones count.
    },
    readAgain,
    { files: [userLockFile(places).path, projectLockFile(project.root).path] },
  );
  return () => {
    stopSources();
    stopFolders();
  };
}
