/** What one skill wants to have installed, and the installation of its Python and Node packages ahead of its first run. */
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import { findPrograms } from "../sandbox/programs.ts";
import type { Scope } from "../skill/scope.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import {
  type EnvironmentState,
  namesPackages,
  prepareEnvironments,
} from "./environments/prepare-environments.ts";
import type { RunHost } from "./run-host.ts";

export interface SetUpOptions {
  /** Whether locked packages that are not installed yet are installed now, if the skill is trusted. Default: no. */
  readonly build?: boolean;
  readonly signal?: AbortSignal;
  /** Hears of what takes long, in one line each. */
  readonly onProgress?: (message: string) => void;
}

export interface SkillSetUp {
  readonly skill: string;
  readonly scope: Scope;
  /** As it is on this use: a changed file ends the trust that was given to it. */
  readonly trust: Trust;
  /** Debian packages; Metier itself installs them for nobody, `metier setup` after a confirmation. */
  readonly packages: readonly string[];
  /** Python and Node packages. */
  readonly environments: readonly EnvironmentState[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `skill`: as its file is now, with the trust it has now. */
export async function setUpSkill(
  skill: Skill,
  { config: loaded, places, environment }: Pick<RunHost, "config" | "places" | "environment">,
  { build = false, signal, onProgress }: SetUpOptions,
): Promise<SkillSetUp> {
  const { name, scope, trust, manifest } = skill;
  const setUp = { skill: name, scope, trust: trust.level, packages: manifest.packages };
  // Looking for a sandbox takes longer than everything else here.
  if (!(hasFolder(skill) && namesPackages(skill.directory)))
    return { ...setUp, environments: [], diagnostics: [] };
  const { config } = loaded();
  const { sandbox } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust: trust.level,
    environment,
    limits: config.sandbox,
    programs: findPrograms(config.sandbox.programs, places, environment),
  });
  const { environments, diagnostics } = await prepareEnvironments({
    skill: name,
    folder: realPathOr(skill.directory),
    trust: trust.level,
    config,
    places,
    environment,
    build,
    ...(sandbox && { sandbox }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  });
  return { ...setUp, environments, diagnostics };
}
