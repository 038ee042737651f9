/**
 * Loads everything a `Metier` knows: configuration, grants, the places and objects that skills come from, and the
 * catalog. A program's options are the top layer of configuration, so that the policy applies to them too.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import {
  expandPath,
  isInside,
  type Places,
  type ProjectFolders,
  type RealPathOf,
  realPathOr,
  rememberRealPaths,
} from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { forReader } from "@metier/base/text";
import {
  buildCatalog,
  Catalog,
  defaultRoots,
  findInstalled,
  type GivenSkill,
  type InstalledSkills,
  type Profile,
  type RemoteSkills,
  type SkillRoot,
  scopeRank,
  type TrustOnUse,
  trustOnUse,
} from "@metier/skills";
import {
  type ConfigOverride,
  formatOrigin,
  type LoadedConfig,
  loadConfig,
  type Origin,
} from "@metier/skills/config";
import { type Embedding, isConfigGranted, readGrants, type StoredGrants } from "@metier/skills/trust";
import { type BroughtSkills, openBrought } from "./brought-skills.ts";
import { bundledSkills } from "./bundled-skills.ts";
import type { MetierOptions } from "./metier-options.ts";

/** Replaced as a whole, never changed. */
export interface MetierState extends Wanted {
  readonly config: LoadedConfig;
  readonly grants: StoredGrants;
  readonly roots: readonly SkillRoot[];
  readonly catalog: Catalog;
  /** Who vouches for the project's and user's folders. */
  readonly embedding: Embedding;
  /** Checked on every use of a skill: its content may have changed since the catalog was built. */
  readonly trustOnUse: TrustOnUse;
}

/** What every part of a `Metier` is built from. */
export interface MetierParts {
  /** The snapshot that is current at the time of the call. */
  current(): MetierState;
  reload(): Promise<unknown>;
  /** Skills passed as objects, whose bodies are stored nowhere else. */
  given(): readonly GivenSkill[];
  readonly profile: Profile;
  readonly places: Places;
  readonly project: ProjectFolders;
  readonly cwd: string;
  readonly environment: Environment;
  /** Where indexes and findings are cached; without it, nowhere. */
  readonly cacheFolder?: string | undefined;
}

export interface LoadInputs extends SourceInputs {
  readonly options: MetierOptions;
  /** For tests only: a policy other than the machine's. */
  readonly policyFile?: string | undefined;
}

export async function loadState(
  inputs: LoadInputs,
  wanted: Wanted,
  brought: BroughtSkills = openBrought(inputs.options, undefined),
): Promise<MetierState> {
  const { options, places, project } = inputs;
  const { discovery, registered } = wanted;
  const environment = options.environment ?? process.env;
  const grants = readGrants(places);
  const config = await loadConfigFor(inputs, wanted, grants, environment);
  const { skills } = config.config;
  const isComplete = discovery !== "none" && skills.autoDiscover;
  const cacheFolder = options.index === false ? undefined : places.cache;
  const installed = isComplete ? await findInstalled({ places, project, cacheFolder }) : undefined;
  const realPathOf = rememberRealPaths(installed?.realPaths);
  const chosen = await chooseSources(inputs, config, wanted, { installed, realPathOf });
  const {
    given,
    roots: own,
    diagnostics: ofSources,
  } = await brought.read(chosen.given, {
    order: skills.order,
    asksSources: discovery !== "none",
  });
  const roots = [...chosen.roots, ...own];
  const searched = [...chosen.searched, ...own];
  const remote = discovery === "none" ? undefined : await readRemote(config, places);
  // Grants that can't be read may contain refusals, so nobody vouches for anything.
  const isVouching = options.trust !== "grants" && grants.diagnostics.length === 0;
  const embedding = isVouching ? "library" : "command-line";
  const catalog = await buildCatalog({
    roots: searched,
    given,
    ...presentFields({ installed, remote }),
    integrationRank: scopeRank(skills.order, "integration"),
    remoteRank: scopeRank(skills.order, "remote"),
    loaded: config,
    grants,
    embedding,
    profile: options.profile ?? "standard",
    environment,
    cacheFolder,
    realPathOf,
    diagnostics: [...grants.diagnostics, ...chosen.diagnostics, ...ofSources],
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

/** What is known about skills of MCP servers. Few users have such servers, so it is loaded only for them. */
async function readRemote(
  { config: { mcp } }: LoadedConfig,
  places: LoadInputs["places"],
): Promise<RemoteSkills | undefined> {
  if (Object.keys(mcp.servers).length === 0) return undefined;
  const { findRemote } = await import("@metier/install/remote");
  return findRemote(mcp, places);
}

/** If not everything was searched, a config table for a skill that wasn't found means nothing. */
function withoutMisses({ all, diagnostics, places }: Catalog): Catalog {
  const misses = ["config.unknown-skill", "config.no-longer-bundled"];
  const rest = diagnostics.filter(({ code }) => !misses.includes(code));
  return new Catalog(all, rest, places);
}

function loadConfigFor(
  { options, cwd, places, project, policyFile }: LoadInputs,
  wanted: Wanted,
  grants: StoredGrants,
  environment: Environment,
): Promise<LoadedConfig> {
  return loadConfig({
    cwd,
    places,
    environment,
    overrides: optionOverrides(options, wanted),
    ...presentFields({ configFile: options.configFile, preset: options.preset, policyFile }),
    projectGrant: (_file, sha256) => isConfigGranted(grants.folders, project.root, `sha256:${sha256}`),
  });
}

/**
 * `none`: only registered skills. `configured`: the sources, and the standard directories if the configuration says so.
 * `asked`: the program wants them whatever users configure; the policy can still forbid it.
 */
export type Discovery = "none" | "configured" | "asked";

/** A skill registered after creation: by absolute path, or as an object. */
export type Registration = string | GivenSkill;

export interface Wanted {
  readonly discovery: Discovery;
  readonly registered: readonly Registration[];
}

interface SourceInputs {
  readonly options: Pick<MetierOptions, "integrations" | "bundled">;
  readonly cwd: string;
  readonly places: Places;
  readonly project: ProjectFolders;
}

interface Sources {
  /** Where skills will be searched. */
  readonly roots: readonly SkillRoot[];
  /** What is searched now: less than `roots` before discovery. */
  readonly searched: readonly SkillRoot[];
  readonly given: readonly GivenSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

async function chooseSources(
  inputs: SourceInputs,
  loaded: LoadedConfig,
  wanted: Wanted,
  { installed, realPathOf }: { installed: InstalledSkills | undefined; realPathOf: RealPathOf },
): Promise<Sources> {
  const { options, cwd, places, project } = inputs;
  const { skills } = loaded.config;
  const [paths, objects] = splitByKind(wanted.registered);
  const [folders, integrations] = splitByKind(options.integrations ?? []);
  const isBundledWanted = skills.bundled ?? options.bundled === "unless-disabled";
  const isOwnWanted = isBundledWanted && skills.autoDiscover;
  const { roots, diagnostics } = defaultRoots({
    config: skills,
    places,
    project,
    bundledFolder: isOwnWanted ? await bundledSkills(places) : undefined,
    integrationFolders: folders.map((folder) => expandPath(folder, places.home, cwd)),
    ...presentFields({ installed: installed?.skills }),
    realPathOf,
  });
  if (wanted.discovery === "none") {
    const registered = skills.paths.filter((path) => isBelowAny(path, paths));
    const config = { ...skills, autoDiscover: false, paths: registered };
    const { roots: searched } = defaultRoots({ config, places, project, integrationFolders: [] });
    return { roots, searched: asInFolders(searched, paths, roots), given: objects, diagnostics: [] };
  }
  const searched = asInFolders(roots, paths, roots);
  return {
    roots: searched,
    searched,
    given: [...integrations, ...objects],
    diagnostics: skills.autoDiscover
      ? [...diagnostics, ...(installed?.diagnostics ?? [])]
      : [reportDiscoveryOff(loaded)],
  };
}

/** Strings are paths; anything else a program passes is treated and checked as an object. */
function splitByKind(
  list: readonly (string | GivenSkill)[],
): readonly [paths: readonly string[], objects: readonly GivenSkill[]] {
  const isPath = (entry: unknown): entry is string => typeof entry === "string" && entry.trim() !== "";
  return [list.filter(isPath), list.filter((entry): entry is GivenSkill => !isPath(entry))];
}

/** A registered path inside a project's or user's skills folder is treated as if that folder were searched. */
function asInFolders(
  searched: readonly SkillRoot[],
  registered: readonly string[],
  roots: readonly SkillRoot[],
): readonly SkillRoot[] {
  if (registered.length === 0) return searched;
  const folders = roots
    .filter(({ scope }) => scope === "project" || scope === "user")
    .map((root) => ({ root, real: realPathOr(root.path) }));
  return searched.map((root) => {
    if (root.scope !== "custom" || !isBelowAny(root.path, registered)) return root;
    const real = realPathOr(root.path);
    const holder = folders.findLast((folder) => isInside(real, folder.real))?.root;
    return holder ? { ...holder, path: root.path, explicit: true } : root;
  });
}

/** By real paths, because the policy narrows to them. */
function isBelowAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(realPathOr(path), realPathOr(folder)));
}

function reportDiscoveryOff({ origins }: LoadedConfig): Diagnostic {
  const origin: Origin = origins.get("skills.auto-discover") ?? { layer: "default" };
  const who = origin.layer === "policy" ? "ask whoever administers this machine" : "set it to `true`";
  return {
    code: "source.discovery-off",
    severity: "info",
    path: origin.where ?? "",
    ...presentFields({ line: origin.line }),
    message: `Discovery is off (\`skills.auto-discover\`, ${formatOrigin(origin)}): bundled, installed, user and project skills are not searched.`,
    hint: `Only skills from \`skills.paths\` and ${forReader({ command: "`--path`", program: "`paths`" })} are loaded. To find the others too, ${who}.`,
  };
}

/** Lists are added to those in the files; single values replace them. */
function optionOverrides(
  options: MetierOptions,
  { discovery, registered }: Wanted,
): readonly ConfigOverride[] {
  const { config, bundled, paths, trustedPaths, allow, deny } = options;
  const registeredPaths = registered.filter((skill) => typeof skill === "string");
  return [
    ...(config ? [{ where: "the `config` option", values: config }] : []),
    ...(typeof bundled === "boolean" ? [override("the `bundled` option", { bundled })] : []),
    ...(discovery === "asked" ? [override("`autoDiscover` or `discover()`", { "auto-discover": true })] : []),
    ...addition("the `paths` option", "paths", paths),
    ...addition("the `trustedPaths` option", "trusted-paths", trustedPaths),
    ...addition("the `allow` option", "allow", allow),
    ...addition("the `deny` option", "deny", deny),
    ...addition("`register()`", "paths", registeredPaths),
  ];
}

function override(where: string, skills: Readonly<Record<string, unknown>>): ConfigOverride {
  return { where, values: { skills } };
}

function addition(where: string, key: string, list: readonly string[] = []): readonly ConfigOverride[] {
  return list.length === 0 ? [] : [{ ...override(where, { [key]: list }), append: true }];
}
