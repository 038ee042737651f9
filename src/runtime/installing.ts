/**
 * How a `Metier` installs skills, updates them and takes them away again. The stages behind it (git, archives, the scan)
 * are loaded by the first call, and the catalog is read anew after every change.
 */
import { dirname } from "node:path";
import type { Environment } from "../host/find-command.ts";
import { expandPath, type Places } from "../host/places.ts";
import type { ProjectFolders } from "../host/project-folders.ts";
import type { InstalledWish } from "../install/choose-installed.ts";
import type { FaultOutcome } from "../install/install-fault.ts";
import type {
  InstallDecisions,
  InstallOutcome,
  InstallParts,
  InstallRequest,
} from "../install/install-request.ts";
import type { OutdatedOutcome, OutdatedRequest } from "../install/outdated.ts";
import type { PluginConfig } from "../install/plugin-config.ts";
import type { RemoveOptions, RemoveOutcome, RemoveParts, SkillData } from "../install/remove.ts";
import type { RollbackOptions, RollbackOutcome } from "../install/rollback.ts";
import type { UpdateDecisions, UpdateOutcome, UpdateRequest } from "../install/update-request.ts";
import type { VerifyReport } from "../install/verify.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, lockedFolder } from "../lock/lock-places.ts";
import { originOf } from "../lock/origin.ts";
import { dataFolders } from "../run/data-folder.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import type { Profile } from "../validate/profiles.ts";
import type { MetierState } from "./load-state.ts";

export interface Installing {
  /**
   * Fetches, checks, scans and installs skills of a source; without one, restores what the locks list. What is installed
   * stays untrusted until it is granted. `decisions` are asked where something is to be decided; without them the safe
   * answer is taken, and named in the outcome.
   */
  install(request: InstallRequest, decisions?: InstallDecisions): Promise<InstallOutcome>;
  /** Takes installed skills away, by the names they have here: all of them or, when one is not installed, none. */
  remove(names: string | readonly string[], options?: RemoveOptions): Promise<RemoveOutcome>;
  /** What the sources of installed skills (all, unless some are named) have now. A source that fails is one answer of many. */
  outdated(wanted?: Wanted<OutdatedRequest>): Promise<OutdatedOutcome>;
  /**
   * Fetches, compares, and takes what is decided upon; without `decisions` only what brings nothing new in risk and
   * overwrites nothing, or with `yes` what the scan does not block. A new version is untrusted until it is granted.
   */
  update(wanted?: Wanted<UpdateRequest>, decisions?: UpdateDecisions): Promise<UpdateOutcome>;
  /** Goes back to the version before the last update; done twice, forward again. */
  rollback(name: string, options?: RollbackOptions): Promise<RollbackOutcome>;
  /** Holds what is on disk against the locks and against trust in single skills. Asks no source and changes nothing. */
  verify(wanted?: Wanted<InstalledWish>): Promise<VerifyReport>;
}

/** Names of installed skills, or a request that may say more. */
type Wanted<Request> = string | readonly string[] | Request;

function toRequest<Request extends InstalledWish>(wanted: Wanted<Request>): Request | InstalledWish {
  if (typeof wanted === "string") return { skills: [wanted] };
  return isNames(wanted) ? { skills: wanted } : wanted;
}

function isNames(wanted: readonly string[] | InstalledWish): wanted is readonly string[] {
  return Array.isArray(wanted);
}

export interface InstallingInputs {
  current(): MetierState;
  reload(): Promise<unknown>;
  readonly profile: Profile;
  readonly places: Places;
  readonly project: ProjectFolders;
  readonly cwd: string;
  readonly environment: Environment;
}

export function createInstalling(inputs: InstallingInputs): Installing {
  const { reload } = inputs;
  return {
    async install(request, decisions) {
      const { installSkills } = await import("../install/install.ts");
      const parts = await installParts(inputs, request.baseline);
      const refused = refuseBaseline(request, parts);
      if (refused) return refused;
      const outcome = withNotes(await installSkills(request, parts, decisions), parts);
      if (outcome.ok && !request.dryRun && outcome.installed.length > 0) await reload();
      return outcome;
    },
    async remove(names, options = {}) {
      const { removeSkills } = await import("../install/remove.ts");
      const list = typeof names === "string" ? [names] : names;
      const outcome = await removeSkills(list, options, removeParts(inputs));
      if (outcome.ok) await reload();
      return outcome;
    },
    async outdated(wanted = {}) {
      const { findOutdated } = await import("../install/outdated.ts");
      return findOutdated(toRequest(wanted), await installParts(inputs));
    },
    async update(wanted = {}, decisions) {
      const { updateSkills } = await import("../install/update.ts");
      const request: UpdateRequest = toRequest(wanted);
      const parts = await installParts(inputs, request.baseline);
      const refused = refuseBaseline(request, parts);
      if (refused) return refused;
      const outcome = withNotes(await updateSkills(request, parts, decisions), parts);
      if (outcome.ok && outcome.updated.length > 0) await reload();
      return outcome;
    },
    async rollback(name, options = {}) {
      const { rollBack } = await import("../install/rollback.ts");
      const outcome = await rollBack(name, options, await installParts(inputs));
      if (outcome.ok) await reload();
      return outcome;
    },
    async verify(wanted = {}) {
      const { verifySkills } = await import("../install/verify.ts");
      return verifySkills(toRequest(wanted), { places: inputs.places, projectRoot: inputs.project.root });
    },
  };
}

/** What installing is given of everything else. */
async function installParts(inputs: InstallingInputs, baseline?: string): Promise<InstallParts> {
  const { current, profile, places, project, cwd, environment } = inputs;
  const { readScanPolicy } = await import("../scan/scan-policy.ts");
  const { catalog, config } = current();
  const { scan: configured } = config.config;
  const asked = baseline === undefined ? undefined : [expandPath(baseline, places.home, cwd)];
  const scan = readScanPolicy({ ...configured, ...(asked && { baseline: asked }) }, catalog.names());
  const plugins = pluginsOf(inputs);
  const { nodeRegistry: registry } = config.config.environments;
  return {
    places,
    cwd,
    projectRoot: project.root,
    environment,
    profile,
    scan,
    plugins,
    ...(registry !== undefined && { registry }),
  };
}

/** A baseline that was asked for must be there; of those that the config names, one that is not is told with the outcome. */
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

function pluginsOf({ current, places }: Pick<InstallingInputs, "current" | "places">): PluginConfig {
  const { config, catalog } = current();
  return {
    file: places.configFile,
    entries: config.config.skills.plugins,
    isThere: (name) => catalog.get(`installed:${name}`) !== undefined,
  };
}

function removeParts({ current, places, project }: InstallingInputs): RemoveParts {
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
  const origin = originOf(entry);
  const locked = {
    lock: lockFile.path,
    name,
    ...(alias && { alias }),
    origin,
    digest,
    ...(linked && { linked }),
  };
  const skill = { name: alias ?? name, scope: "installed", directory, location: directory, locked } as const;
  const folderFor = (trust: Trust): string => dirname(dataFolders(places, { skill, trust }).own);
  return { trusted: folderFor("trusted"), untrusted: folderFor("untrusted") };
}
