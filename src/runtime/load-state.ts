/** Everything a `Metier` knows, read anew: configuration, grants, roots and the catalog. */
import { buildCatalog } from "../catalog/build-catalog.ts";
import { Catalog } from "../catalog/catalog.ts";
import { type TrustOnUse, trustOnUse } from "../catalog/skill-trust.ts";
import type { LoadedConfig } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { scopeRank } from "../sources/default-roots.ts";
import { findInstalled } from "../sources/installed-skills.ts";
import type { RemoteSkills } from "../sources/remote-skills.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Embedding } from "../trust/decide-trust.ts";
import { readGrants, type StoredGrants } from "../trust/grant-store.ts";
import { isConfigGranted } from "../trust/grants.ts";
import { chooseSources, type SourceInputs } from "./choose-sources.ts";
import type { MetierOptions } from "./metier-options.ts";
import { optionOverrides } from "./option-overrides.ts";
import type { Wanted } from "./wanted.ts";

/** Replaced as a whole, never changed. */
export interface MetierState extends Wanted {
  readonly config: LoadedConfig;
  readonly grants: StoredGrants;
  readonly roots: readonly SkillRoot[];
  readonly catalog: Catalog;
  /** Who vouches for the project's and the user's folders. */
  readonly embedding: Embedding;
  /** Asked on every use of a skill: its content may have changed since the catalog was made. */
  readonly trustOnUse: TrustOnUse;
}

export interface LoadInputs extends SourceInputs {
  readonly options: MetierOptions;
  /** For tests only: another policy than the machine's. */
  readonly policyFile?: string | undefined;
}

export async function loadState(inputs: LoadInputs, wanted: Wanted): Promise<MetierState> {
  const { options, places, project } = inputs;
  const { discovery, registered } = wanted;
  const environment = options.environment ?? process.env;
  const grants = readGrants(places);
  const config = await loadConfigFor(inputs, wanted, grants, environment);
  const { skills } = config.config;
  const isComplete = discovery !== "none" && skills.autoDiscover;
  const cacheFolder = options.index === false ? undefined : places.cache;
  const installed = isComplete ? await findInstalled({ places, project, cacheFolder }) : undefined;
  const { roots, searched, given, diagnostics } = chooseSources(inputs, config, wanted, installed);
  const remote = discovery === "none" ? undefined : await readRemote(config, places);
  // Grants that cannot be read may hold refusals, so then nobody vouches for anything.
  const isVouching = options.trust !== "grants" && grants.diagnostics.length === 0;
  const embedding = isVouching ? "library" : "command-line";
  const catalog = await buildCatalog({
    roots: searched,
    given,
    ...(installed && { installed }),
    integrationRank: scopeRank(skills.order, "integration"),
    ...(remote && { remote }),
    remoteRank: scopeRank(skills.order, "remote"),
    loaded: config,
    grants,
    embedding,
    profile: options.profile ?? "standard",
    environment,
    cacheFolder,
    diagnostics: [...grants.diagnostics, ...diagnostics],
  });
  return {
    discovery,
    registered,
    config,
    grants,
    roots,
    embedding,
    catalog: isComplete ? catalog : withoutMisses(catalog),
    trustOnUse: trustOnUse(searched, { config: config.config, grants, embedding }),
  };
}

/** What is known of the skills of MCP servers. Few have such servers, so it is loaded for them alone. */
async function readRemote(
  { config: { mcp } }: LoadedConfig,
  places: LoadInputs["places"],
): Promise<RemoteSkills | undefined> {
  if (Object.keys(mcp.servers).length === 0) return undefined;
  const { findRemote } = await import("../remote/find-remote.ts");
  return findRemote(mcp, places);
}

/** Where not everything was looked for, a table for a skill that was not found says nothing. */
function withoutMisses({ all, diagnostics, places }: Catalog): Catalog {
  const rest = diagnostics.filter(({ code }) => code !== "config.unknown-skill");
  return new Catalog(all, rest, places);
}

function loadConfigFor(
  { options, cwd, places, project, policyFile }: LoadInputs,
  wanted: Wanted,
  grants: StoredGrants,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  return loadConfig({
    cwd,
    places,
    environment,
    overrides: optionOverrides(options, wanted),
    ...(options.configFile !== undefined && { configFile: options.configFile }),
    ...(options.preset !== undefined && { preset: options.preset }),
    ...(policyFile !== undefined && { policyFile }),
    projectGrant: (_file, sha256) => isConfigGranted(grants.folders, project.root, `sha256:${sha256}`),
  });
}
