/** Everything a `Metier` knows, read anew: configuration, grants, roots and, when asked for, the catalog. */
import { join } from "node:path";
import { buildCatalog } from "../catalog/build-catalog.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import type { LoadedConfig } from "../config/config.ts";
import { type ConfigOverride, loadConfig } from "../config/load-config.ts";
import { packageFolder } from "../host/package-folder.ts";
import type { Places } from "../host/places.ts";
import type { ProjectFolders } from "../host/project-folders.ts";
import { defaultRoots, scopeRank } from "../sources/default-roots.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import { readGrants, type StoredGrants } from "../trust/grant-store.ts";
import { isConfigGranted } from "../trust/grants.ts";
import type { MetierOptions } from "./metier-options.ts";

/** Replaced as a whole, never changed. */
export interface MetierState {
  readonly config: LoadedConfig;
  readonly grants: StoredGrants;
  readonly roots: readonly SkillRoot[];
  readonly catalog: Catalog;
}

/** A skill that was registered after creation: by path, or as an object. */
export type Registration = string | GivenSkill;

export interface LoadInputs {
  readonly options: MetierOptions;
  readonly cwd: string;
  readonly places: Places;
  readonly project: ProjectFolders;
  readonly registered: readonly Registration[];
}

/** `discover: "auto"` leaves it to the configuration. */
export async function loadState(inputs: LoadInputs, discover: boolean | "auto"): Promise<MetierState> {
  const { options, places, project, registered } = inputs;
  const environment = options.environment ?? process.env;
  const grants = readGrants(places);
  const config = await loadConfigFor(inputs, grants, environment);
  const { skills } = config.config;
  const integrations = options.integrations ?? [];
  const given = [...integrations, ...registered].filter((entry) => typeof entry !== "string");
  const { roots, diagnostics } = defaultRoots({
    config: {
      ...skills,
      paths: [...skills.paths, ...registered.filter((entry) => typeof entry === "string")],
    },
    places,
    project,
    bundledFolder: wantsBundled(options.bundled, skills.bundled) ? bundledFolder() : undefined,
    integrationFolders: integrations.filter((entry) => typeof entry === "string"),
  });
  const wanted = discover === "auto" ? skills.autoDiscover : discover;
  if (!wanted) return { config, grants, roots, catalog: new Catalog([], config.diagnostics, []) };
  const catalog = await buildCatalog({
    roots,
    given,
    integrationRank: scopeRank(skills.order, "integration"),
    loaded: config,
    grants,
    embedding: options.trust === "grants" ? "command-line" : "library",
    profile: options.profile ?? "standard",
    environment,
    cacheFolder: options.index === false ? undefined : places.cache,
    diagnostics: [...grants.diagnostics, ...diagnostics],
  });
  return { config, grants, roots, catalog };
}

function loadConfigFor(
  { options, cwd, places, project }: LoadInputs,
  grants: StoredGrants,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  return loadConfig({
    cwd,
    places,
    environment,
    overrides: overridesOf(options),
    ...(options.configFile !== undefined && { configFile: options.configFile }),
    ...(options.preset !== undefined && { preset: options.preset }),
    projectGrant: (_file, sha256) => isConfigGranted(grants.folders, project.root, `sha256:${sha256}`),
  });
}

/** Lists are added to what the files say; single values replace it. */
function overridesOf({ config, paths, trustedPaths, allow, deny }: MetierOptions): readonly ConfigOverride[] {
  const lists = { paths, "trusted-paths": trustedPaths, allow, deny };
  const given = Object.fromEntries(Object.entries(lists).filter(([, value]) => value !== undefined));
  return [
    ...(config ? [{ where: "the `config` option", values: config }] : []),
    ...(Object.keys(given).length > 0
      ? [{ where: "an option", values: { skills: given }, append: true }]
      : []),
  ];
}

function wantsBundled(option: MetierOptions["bundled"], configured: boolean | undefined): boolean {
  return option === "unless-disabled" ? configured !== false : (option ?? configured ?? false);
}

function bundledFolder(): string | undefined {
  const folder = packageFolder();
  return folder && join(folder, "skills");
}
