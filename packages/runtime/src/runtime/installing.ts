/**
 * Installs, updates and removes skills for a `Metier`. The stages behind it (git, archives, the scan) are loaded by the
 * first call, and the catalog is read again after every change.
 */
import { dirname } from "node:path";
import type { TellHost } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { expandPath, type Places } from "@metier/base/places";
import type {
  FaultOutcome,
  InstallDecisions,
  InstalledWish,
  InstallOutcome,
  InstallParts,
  InstallRequest,
  OutdatedOutcome,
  OutdatedRequest,
  PluginConfig,
  RemoveOptions,
  RemoveOutcome,
  RemoveParts,
  RollbackOptions,
  RollbackOutcome,
  SkillData,
  UpdateDecisions,
  UpdateOutcome,
  UpdateRequest,
  VerifyReport,
  VerifyRequest,
} from "@metier/install";
import { dataFolders } from "@metier/run";
import type { Skill, Trust } from "@metier/skills";
import { calledAs, type LockEntry, type LockFile, lockedFolder, originOf } from "@metier/skills/trust";
import { checkDecisions, takeRequest } from "./install-options.ts";
import type { MetierParts } from "./load-state.ts";

/** Installs, updates, checks and removes skills; the catalog is read again after a change. */
export interface Installing {
  /**
   * Fetches, checks, scans and installs skills from a source; without one, restores what the locks list. Installed
   * skills stay untrusted until granted. `decisions` are asked when something must be decided; without them, the safe
   * answer is used and reported in the outcome.
   */
  install(request: InstallRequest, decisions?: InstallDecisions): Promise<InstallOutcome>;
  /** Removes installed skills by their names here: all of them or, if one isn't installed, none. */
  remove(names: string | readonly string[], options?: RemoveOptions): Promise<RemoveOutcome>;
  /**
   * What the sources of installed skills (all, or the named ones) have now. A source that fails doesn't affect the
   * others.
   */
  outdated(wanted?: Wanted<OutdatedRequest>): Promise<OutdatedOutcome>;
  /**
   * Fetches, compares and installs what is decided; without `decisions`, only what adds no risk and overwrites nothing,
   * or with `yes` what the scan doesn't block. A new version is untrusted until granted.
   */
  update(wanted?: Wanted<UpdateRequest>, decisions?: UpdateDecisions): Promise<UpdateOutcome>;
  /** Goes back to the version before the last update; a second call goes forward again. */
  rollback(name: string, options?: RollbackOptions): Promise<RollbackOutcome>;
  /** Compares the disk with the locks and with trust in single skills. Contacts no source and changes nothing. */
  verify(wanted?: Wanted<VerifyRequest>): Promise<VerifyReport>;
}

/** Names of installed skills, or a request with more options. */
type Wanted<Request> = string | readonly string[] | Request;

function toRequest<Request extends InstalledWish>(wanted: Wanted<Request>): Request | InstalledWish {
  const isNames = typeof wanted === "string" || Array.isArray(wanted);
  return isNames ? { skills: [wanted].flat() } : (wanted as Request);
}

export function createInstalling(inputs: MetierParts, tell: TellHost): Installing {
  const { reload } = inputs;
  return {
    async install(asked, decisions) {
      const request = takeRequest("install", asked, tell);
      checkDecisions("install", decisions);
      const { installSkills } = await import("@metier/install/engine");
      const parts = await installParts(inputs, request.baseline);
      const refused = refuseBaseline(request, parts);
      if (refused) return refused;
      const outcome = withNotes(await installSkills(request, parts, decisions), parts);
      if (outcome.ok && !request.dryRun && outcome.installed.length > 0) await reload();
      return outcome;
    },
    async remove(names, asked = {}) {
      const options = takeRequest("remove", asked, tell);
      const { removeSkills } = await import("@metier/install/engine");
      const list = typeof names === "string" ? [names] : names;
      const outcome = await removeSkills(list, options, removeParts(inputs));
      if (outcome.ok) await reload();
      return outcome;
    },
    async outdated(wanted = {}) {
      const { findOutdated } = await import("@metier/install/engine");
      const request = takeRequest("outdated", toRequest(wanted), tell);
      return findOutdated(request, await installParts(inputs));
    },
    async update(wanted = {}, decisions) {
      const { updateSkills } = await import("@metier/install/engine");
      const request: UpdateRequest = takeRequest("update", toRequest(wanted), tell);
      checkDecisions("update", decisions);
      const parts = await installParts(inputs, request.baseline);
      const refused = refuseBaseline(request, parts);
      if (refused) return refused;
      const outcome = withNotes(await updateSkills(request, parts, decisions), parts);
      if (outcome.ok && outcome.updated.length > 0) await reload();
      return outcome;
    },
    async rollback(name, asked = {}) {
      const options = takeRequest("rollback", asked, tell);
      const { rollBack } = await import("@metier/install/engine");
      const outcome = await rollBack(name, options, await installParts(inputs));
      if (outcome.ok) await reload();
      return outcome;
    },
    async verify(wanted = {}) {
      const { verifySkills } = await import("@metier/install/engine");
      const request = takeRequest("verify", toRequest(wanted), tell);
      return verifySkills(request, { places: inputs.places, projectRoot: inputs.project.root });
    },
  };
}

/** What installing needs from the rest. */
async function installParts(inputs: MetierParts, baseline?: string): Promise<InstallParts> {
  const { current, profile, places, project, cwd, environment } = inputs;
  const { readScanPolicy } = await import("@metier/scan/engine");
  const { catalog, config } = current();
  const { scan: configured } = config.config;
  const asked = baseline === undefined ? undefined : [expandPath(baseline, places.home, cwd)];
  const scan = readScanPolicy({ ...configured, ...presentFields({ baseline: asked }) }, catalog.names());
  const plugins = pluginsOf(inputs);
  const { nodeRegistry: registry } = config.config.environments;
  const { privateHosts } = config.config.install;
  const own = { places, cwd, projectRoot: project.root, environment, profile, scan, plugins, privateHosts };
  return { ...own, ...presentFields({ registry }) };
}

/** A requested baseline must exist; a missing one from the config is reported with the outcome. */
function refuseBaseline(
  { baseline }: Pick<InstallRequest, "baseline">,
  { scan }: InstallParts,
): FaultOutcome | undefined {
  const [wrong] = baseline === undefined ? [] : scan.diagnostics;
  return (
    wrong && { ok: false, fault: { code: "install.usage", message: wrong.message, hint: wrong.hint ?? "" } }
  );
}

function withNotes<Outcome extends InstallOutcome | UpdateOutcome>(
  outcome: Outcome,
  { scan }: InstallParts,
): Outcome {
  if (!outcome.ok || scan.diagnostics.length === 0) return outcome;
  return { ...outcome, diagnostics: [...scan.diagnostics, ...outcome.diagnostics] };
}

function pluginsOf({ current, places }: Pick<MetierParts, "current" | "places">): PluginConfig {
  const { config, catalog } = current();
  return {
    file: places.configFile,
    entries: config.config.skills.plugins,
    isThere: (name) => catalog.get(`installed:${name}`) !== undefined,
  };
}

function removeParts({ current, places, project }: MetierParts): RemoveParts {
  return {
    places,
    projectRoot: project.root,
    plugins: pluginsOf({ current, places }),
    locate: (name) => current().catalog.get(name),
    dataFolders(entry, lockFile) {
      const isOther = ({ name, scope, locked }: Skill): boolean =>
        name === calledAs(entry) && scope !== "project" && !locked;
      return { ...dataOf(places, entry, lockFile), isShared: current().catalog.all.some(isOther) };
    },
  };
}

function dataOf(places: Places, entry: LockEntry, lockFile: LockFile): Omit<SkillData, "isShared"> {
  const { name, alias, digest, linked } = entry;
  const directory = lockedFolder(places, lockFile, entry);
  const flags = presentFields({ alias: alias || undefined, linked: linked || undefined });
  const locked = { lock: lockFile.path, name, origin: originOf(entry), digest, ...flags };
  const skill = { name: alias ?? name, scope: "installed", directory, location: directory, locked } as const;
  const folderFor = (trust: Trust): string => dirname(dataFolders(places, { skill, trust }).own);
  return { trusted: folderFor("trusted"), untrusted: folderFor("untrusted") };
}
