/**
 * Where skills come from, for a working directory and a configuration: every searched path, with its rank and its
 * meaning for trust; and what MCP servers declared. `search-root.ts` does the search.
 */

import { basename, isAbsolute, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import {
  isOwnFolder,
  type Places,
  type ProjectFolders,
  type RealPathOf,
  realPathOr,
} from "@metier/base/places";
import { forReader } from "@metier/base/text";
import { resolveLayout } from "../clients/clients.ts";
import type { SkillsConfig } from "../config/config.ts";
import type { LockedSkill, RemoteOrigin, SourceOrigin } from "../skill/skill.ts";
import type { Scope } from "../skill/skill-name.ts";
import type { RootKind } from "../trust/decide-trust.ts";
import type { InstalledFolder } from "./installed-skills.ts";

/** A path that is searched for skills. */
export interface SkillRoot {
  /** The scope of its skills. */
  readonly scope: Scope;
  /** Absolute; a folder of skills, a skill folder or a skill file. */
  readonly path: string;
  /** Its meaning for trust. */
  readonly kind: RootKind;
  /** Higher overrides lower; two roots with the same rank conflict over a name instead. */
  readonly rank: number;
  /** Requested by name (`--path`, `skills.paths`): if it is missing, that is reported. */
  readonly explicit: boolean;
  /** What a folder grant for this root is bound to: the project, or the folder itself. */
  readonly grantFolder: string;
  /** The root is the folder of only this skill. */
  readonly locked?: LockedSkill;
  /** The root is the folder of only this skill from a program source. */
  readonly source?: SourceOrigin;
}

/** Where a skill's link may lead on use. An installed skill's folder never leads to another skill. */
export function linkTargets(
  roots: readonly Pick<SkillRoot, "path" | "locked" | "source">[],
): readonly string[] {
  return roots.filter(({ locked, source }) => !locked && !source).map(({ path }) => path);
}

interface RootInputs {
  readonly config: SkillsConfig;
  readonly places: Places;
  readonly project: ProjectFolders;
  /** The package's own skills, if wanted. */
  readonly bundledFolder?: string | undefined;
  /** Folders from the embedding program. */
  readonly integrationFolders: readonly string[];
  /** What the locks record. */
  readonly installed?: readonly InstalledFolder[] | undefined;
  readonly realPathOf?: RealPathOf | undefined;
}

interface SkillRoots {
  readonly roots: readonly SkillRoot[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Rank distance between two scopes, for the roots within one. */
const SCOPE_STEP = 1000;

export function scopeRank(order: readonly Scope[], scope: Scope): number {
  return (order.indexOf(scope) + 1) * SCOPE_STEP;
}

export function defaultRoots(inputs: RootInputs): SkillRoots {
  const { config, places, project, bundledFolder, integrationFolders, installed = [] } = inputs;
  const layout = resolveLayout(config, places);
  const rank = (scope: Scope): number => scopeRank(config.order, scope);
  const make = (scope: Scope, kind: RootKind, path: string, more: Partial<SkillRoot> = {}): SkillRoot => ({
    scope,
    kind,
    path,
    rank: rank(scope),
    explicit: false,
    grantFolder: path,
    ...more,
  });
  const ofProject = projectRoots(layout.projectDirs, project, make, rank("project"));
  const roots = [
    ...(bundledFolder === undefined ? [] : [make("bundled", "own", bundledFolder)]),
    ...integrationFolders.map((folder) => make("integration", "own", folder, { explicit: true })),
    ...layout.installedDirs.map((folder) => make("installed", "foreign", folder)),
    ...installed.map(({ folder, locked, isOfProject }) =>
      make("installed", "foreign", folder, {
        explicit: true,
        locked,
        rank: rank("installed") + (isOfProject ? 2 : 1),
      }),
    ),
    ...config.paths.map((path) => make("custom", "foreign", path, { explicit: true })),
    ...layout.userDirs.map((path, index) =>
      make("user", isFilledByOthers(path) ? "vouched" : "own", path, { rank: rank("user") + index }),
    ),
    ...ofProject.filter(({ path }) => isOwnFolder(path)),
  ];
  const foreign = ofProject.map(({ path }) => path).filter((path) => !isOwnFolder(path));
  return {
    roots: withoutRepeats(roots, inputs.realPathOf),
    diagnostics: [...project.foreign, ...foreign].map(reportForeign),
  };
}

/** The nearest folder wins, whichever of its directories contains the skill. */
function projectRoots(
  directories: readonly string[],
  { folders, root }: ProjectFolders,
  make: (scope: Scope, kind: RootKind, path: string, more: Partial<SkillRoot>) => SkillRoot,
  rank: number,
): readonly SkillRoot[] {
  return [...folders].reverse().flatMap((folder, distance) =>
    directories.map((directory, index) =>
      make("project", "vouched", isAbsolute(directory) ? directory : join(folder, directory), {
        rank: rank + distance * directories.length + index,
        grantFolder: root,
      }),
    ),
  );
}

/** `~/.claude/skills` and `~/.agents/skills`: other programs install into them without asking the user of Metier. */
function isFilledByOthers(path: string): boolean {
  return [".claude", ".agents"].includes(basename(join(path, "..")));
}

const KIND_ORDER: Record<RootKind, number> = { own: 0, vouched: 1, foreign: 2 };

/**
 * A folder is searched once. Your own comes first, so that a project cannot take over your folder by linking to it;
 * then where it counts most.
 */
function withoutRepeats(
  roots: readonly SkillRoot[],
  realPathOf: RealPathOf = realPathOr,
): readonly SkillRoot[] {
  const seen = new Set<string>();
  return roots
    .toSorted((a, b) => KIND_ORDER[a.kind] - KIND_ORDER[b.kind] || b.rank - a.rank)
    .filter(({ path, locked }) => {
      // Two locks may have two names for one folder.
      const key = `${realPathOf(path)}\0${locked ? (locked.alias ?? locked.name) : ""}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .sort((a, b) => a.rank - b.rank);
}

function reportForeign(folder: string): Diagnostic {
  return {
    code: "source.foreign-owner",
    severity: "warning",
    path: folder,
    message: `\`${folder}\` belongs to another user, so it is not searched for project skills.`,
    hint: forReader({
      command: "If you want its skills, name a skills folder in it with `--path`.",
      program: "If you want its skills, name a skills folder in it in `paths`.",
    }),
  };
}

/** A skill of an MCP server, as the server declared it: known without asking again. Read by the `install` package. */
export interface RemoteSkill {
  /** Its name here. */
  readonly name: string;
  readonly origin: RemoteOrigin;
  /** As declared by the server; compared with the file when that is fetched. */
  readonly frontmatter: Readonly<Record<string, Json>> & { readonly name: string };
  /** Where its files are put on use. */
  readonly folder: string;
}

export interface RemoteSkills {
  readonly skills: readonly RemoteSkill[];
  readonly diagnostics: readonly Diagnostic[];
}
