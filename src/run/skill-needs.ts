/**
 * What a skill wants to have installed, when it is about to be used: system packages are looked for, locked Python and
 * Node packages are installed for it. What is missing is said; nothing is refused for it.
 */
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import { pathOf } from "../invoke/report-fields.ts";
import { findInstalledPackages } from "../sandbox/debian-packages.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { PlacedFolder } from "../sandbox/world.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { showNames } from "../validate/report.ts";
import { prepareEnvironments } from "./environments/prepare-environments.ts";
import type { RunHost } from "./run-host.ts";
import type { RunRequest } from "./run-request.ts";

export interface NeedsInput {
  readonly skill: Skill;
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly host: Pick<RunHost, "places" | "environment" | "config">;
  readonly request: Pick<RunRequest, "signal" | "onProgress">;
  readonly sandbox?: Sandbox;
}

export interface SkillNeeds {
  /** Installed packages, as its commands are to see them. */
  readonly placed: readonly PlacedFolder[];
  readonly diagnostics: readonly Diagnostic[];
}

export const NO_NEEDS: SkillNeeds = { placed: [], diagnostics: [] };

export async function meetNeeds(input: NeedsInput): Promise<SkillNeeds> {
  const { skill, trust, host, request, sandbox } = input;
  const missing = await reportPackages(skill, host.environment);
  if (!hasFolder(skill)) return { placed: [], diagnostics: missing };
  const { onProgress, signal } = request;
  const { placed, diagnostics } = await prepareEnvironments({
    skill: skill.name,
    folder: realPathOr(skill.directory),
    trust,
    config: host.config().config,
    places: host.places,
    environment: host.environment,
    build: true,
    ...(sandbox && { sandbox }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  });
  return { placed, diagnostics: [...missing, ...diagnostics] };
}

async function reportPackages(
  skill: Skill,
  environment: RunHost["environment"],
): Promise<readonly Diagnostic[]> {
  const { packages } = skill.manifest;
  if (packages.length === 0) return [];
  const installed = await findInstalledPackages(packages, environment);
  const missing = packages.filter((name) => !installed?.has(name));
  if (missing.length === 0) return [];
  return [
    {
      code: "packages.missing",
      severity: installed ? "warning" : "info",
      path: pathOf(skill),
      message: installed
        ? `\`${skill.name}\` needs system packages that are not installed: ${showNames(missing)}.`
        : `\`${skill.name}\` needs the Debian packages ${showNames(missing)}; this system has no \`dpkg-query\` that could say whether they are installed.`,
      hint: `\`metier setup ${skill.name}\` says how to install them.`,
    },
  ];
}
