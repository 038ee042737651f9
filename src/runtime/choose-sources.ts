/** Which places and objects skills are taken from: the roots there are, and what of it the catalog is made of. */
import { join } from "node:path";
import type { GivenSkill } from "../catalog/given-skills.ts";
import type { LoadedConfig, Origin } from "../config/config.ts";
import { formatOrigin } from "../config/explain-config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { packageFolder } from "../host/package-folder.ts";
import { expandPath, isInside, type Places } from "../host/places.ts";
import { type ProjectFolders, realPathOr } from "../host/project-folders.ts";
import { defaultRoots } from "../sources/default-roots.ts";
import type { InstalledSkills } from "../sources/installed-skills.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { MetierOptions } from "./metier-options.ts";
import type { Wanted } from "./wanted.ts";

export interface SourceInputs {
  readonly options: Pick<MetierOptions, "integrations" | "bundled">;
  readonly cwd: string;
  readonly places: Places;
  readonly project: ProjectFolders;
}

export interface Sources {
  /** Where skills are looked for, once they are. */
  readonly roots: readonly SkillRoot[];
  /** What is searched now: less than `roots` before discovery. */
  readonly searched: readonly SkillRoot[];
  readonly given: readonly GivenSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function chooseSources(
  inputs: SourceInputs,
  loaded: LoadedConfig,
  wanted: Wanted,
  installed: InstalledSkills | undefined,
): Sources {
  const { options, cwd, places, project } = inputs;
  const { skills } = loaded.config;
  const [paths, objects] = splitByKind(wanted.registered);
  const [folders, integrations] = splitByKind(options.integrations ?? []);
  const isBundledWanted = skills.bundled ?? options.bundled === "unless-disabled";
  const { roots, diagnostics } = defaultRoots({
    config: skills,
    places,
    project,
    bundledFolder: isBundledWanted && skills.autoDiscover ? bundledFolder() : undefined,
    integrationFolders: folders.map((folder) => expandPath(folder, places.home, cwd)),
    ...(installed && { installed: installed.skills }),
  });
  if (wanted.discovery === "none") {
    const registered = skills.paths.filter((path) => isBelowAny(path, paths));
    const config = { ...skills, autoDiscover: false, paths: registered };
    const { roots: searched } = defaultRoots({ config, places, project, integrationFolders: [] });
    return { roots, searched, given: objects, diagnostics: [] };
  }
  return {
    roots,
    searched: roots,
    given: [...integrations, ...objects],
    diagnostics: skills.autoDiscover
      ? [...diagnostics, ...(installed?.diagnostics ?? [])]
      : [reportDiscoveryOff(loaded)],
  };
}

/** Texts are paths; whatever else a program gives, a blank included, is taken for an object, and checked as one. */
function splitByKind(
  list: readonly (string | GivenSkill)[],
): readonly [paths: readonly string[], objects: readonly GivenSkill[]] {
  const isPath = (entry: unknown): entry is string => typeof entry === "string" && entry.trim() !== "";
  return [list.filter(isPath), list.filter((entry): entry is GivenSkill => !isPath(entry))];
}

/** By real paths, since the policy narrows them to these. */
function isBelowAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(realPathOr(path), realPathOr(folder)));
}

function bundledFolder(): string | undefined {
  const folder = packageFolder();
  return folder && join(folder, "skills");
}

function reportDiscoveryOff({ origins }: LoadedConfig): Diagnostic {
  const origin: Origin = origins.get("skills.auto-discover") ?? { layer: "default" };
  const who = origin.layer === "policy" ? "ask whoever administers this machine" : "set it to `true`";
  return {
    code: "source.discovery-off",
    severity: "info",
    path: origin.where ?? "",
    ...(origin.line !== undefined && { line: origin.line }),
    message: `Discovery is off by \`skills.auto-discover\` (${formatOrigin(origin)}): bundled, installed, user and project skills are not looked for.`,
    hint: `What \`skills.paths\` and \`--path\` name is there. If the others are to be found too, ${who}.`,
  };
}
