/** Sources → parse → validate → trust → precedence → status: how a catalog comes to be, on one screen. */
import { checkSkillTables } from "../config/check-skill-tables.ts";
import type { LoadedConfig } from "../config/config.ts";
import { compareDiagnostics, type Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill, SkillPlace } from "../skill/skill.ts";
import type { InstalledSkills } from "../sources/installed-skills.ts";
import type { RemoteSkills } from "../sources/remote-skills.ts";
import { leavesProject } from "../sources/scan-root.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Embedding } from "../trust/decide-trust.ts";
import type { Grants } from "../trust/grants.ts";
import type { Profile } from "../validate/profiles.ts";
import { Catalog, type SearchedPlace } from "./catalog.ts";
import { type DecideStatus, statusDecider } from "./decide-status.ts";
import { type GivenSkill, placeGiven } from "./given-skills.ts";
import { openIndexes } from "./open-indexes.ts";
import { placeRemote } from "./place-remote.ts";
import { placeSkills } from "./place-skills.ts";
import type { PlacedSkill } from "./placed-skill.ts";
import { type RootContent, readRoot } from "./read-root.ts";
import { type Resolution, resolvePrecedence } from "./resolve-precedence.ts";
import { settleInstalled } from "./settle-installed.ts";

export interface CatalogRequest {
  readonly roots: readonly SkillRoot[];
  /** Skills given as objects by the embedding program. */
  readonly given: readonly GivenSkill[];
  /** What the locks record beside the roots. */
  readonly installed?: InstalledSkills;
  readonly integrationRank: number;
  /** What MCP servers offer. */
  readonly remote?: RemoteSkills;
  readonly remoteRank: number;
  readonly loaded: LoadedConfig;
  readonly grants: Grants;
  readonly embedding: Embedding;
  readonly profile: Profile;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cacheFolder?: string | undefined;
  /** What was noticed on the way here: in grants and project folders. */
  readonly diagnostics: readonly Diagnostic[];
}

export async function buildCatalog(request: CatalogRequest): Promise<Catalog> {
  const { loaded, profile, cacheFolder } = request;
  const { config } = loaded;
  const knownRoots = knownRootPaths(request.roots);
  const read: RootContent[] = [];
  const indexes = openIndexes(cacheFolder, profile);
  for (const root of request.roots) {
    const index = indexes.of(root);
    read.push(await readRoot(root, { profile, nested: config.skills.nested, knownRoots, index }));
  }
  indexes.saveShared();
  const { contents, diagnostics: installDiagnostics } = settleInstalled(read, request.installed);
  const { placed, diagnostics: trustDiagnostics } = placeSkills(contents, { ...request, config });
  const given = placeGiven(request.given, request);
  const others = [...placed, ...given.placed];
  const remote = placeRemote({ ...request, others });
  const resolved = resolvePrecedence([...others, ...remote.placed]);
  const decide = statusDecider({ ...request, config });
  const skills: Skill[] = [];
  const notes: Diagnostic[] = [];
  for (const resolution of resolved.resolutions) addSkills(resolution, decide, skills, notes);
  return new Catalog(
    skills,
    [
      ...loaded.diagnostics,
      ...checkSkillTables(loaded, new Set(skills.map(({ name }) => name))),
      ...request.diagnostics,
      ...read.flatMap(({ diagnostics }) => diagnostics),
      ...installDiagnostics,
      ...trustDiagnostics,
      ...given.diagnostics,
      ...remote.diagnostics,
      ...resolved.diagnostics,
      ...notes,
    ].sort(compareDiagnostics),
    describePlaces(contents),
  );
}

/** Where links may lead. A project folder that is itself a link out of its project opens no door for others. */
function knownRootPaths(roots: readonly SkillRoot[]): readonly string[] {
  return roots
    .map((root) => ({ root, real: realPathOr(root.path) }))
    .filter(({ root, real }) => !leavesProject(root, real))
    .map(({ real }) => real);
}

/** The winner, then the skills that it hides; `allNotes` takes what is said of it here. */
function addSkills(
  { winner, shadowed }: Resolution,
  decide: DecideStatus,
  skills: Skill[],
  allNotes: Diagnostic[],
): void {
  const { hints, status, reason } = decide(winner);
  const notes = hints.length === 0 ? NONE : hints.map((hint) => reportHint(winner, hint));
  if (notes.length > 0) allNotes.push(...notes);
  const shadows = shadowed.length === 0 ? NONE : shadowed.map(({ skill }) => placeOf(skill));
  skills.push(describe(winner, { status, shadows, notes, ...(reason !== undefined && { reason }) }));
  for (const loser of shadowed) {
    const verdict = { status: "shadowed", reason: loser.reason, shadows: NONE, notes: NONE } as const;
    skills.push(describe(loser.skill, { ...verdict, shadowedBy: placeOf(winner) }));
  }
}

const NONE: readonly never[] = Object.freeze([]);

interface Verdict extends Pick<Skill, "status" | "shadows" | "reason" | "shadowedBy"> {
  readonly notes: readonly Diagnostic[];
}

function describe(skill: PlacedSkill, { notes, status, shadows, reason, shadowedBy }: Verdict): Skill {
  const { candidate, manifest, root, remote, trust, body, diagnostics } = skill;
  return Object.freeze({
    name: manifest.name,
    description: manifest.description,
    manifest: Object.freeze(manifest),
    form: candidate.form,
    scope: root.scope,
    location: candidate.file,
    directory: candidate.directory,
    root: root.path,
    ...(root.locked && { locked: root.locked }),
    ...(remote && { remote }),
    trust: Object.freeze(trust),
    status,
    shadows,
    body,
    diagnostics: notes.length === 0 ? diagnostics : [...diagnostics, ...notes],
    ...(reason !== undefined && { reason }),
    ...(shadowedBy && { shadowedBy }),
  });
}

function reportHint({ candidate, manifest }: PlacedSkill, hint: string): Diagnostic {
  return {
    code: "catalog.compatibility",
    severity: "info",
    path: candidate.file,
    message: `\`${manifest.name}\` may not work here: ${hint}`,
    hint: "If it matters, declare it under `requires`, so that the skill is offered only where it works.",
  };
}

function placeOf({ root, candidate }: PlacedSkill): SkillPlace {
  return { scope: root.scope, location: candidate.file };
}

/** The skills of a lock are one place: the lock. */
function describePlaces(contents: readonly RootContent[]): readonly SearchedPlace[] {
  const places = new Map<string, SearchedPlace>();
  for (const { root, outcome, skills } of contents) {
    const { scope, kind, locked } = root;
    const path = locked?.lock ?? root.path;
    const key = `${scope}\0${path}`;
    const count = (places.get(key)?.skills ?? 0) + skills.length;
    places.set(key, { scope, path, outcome: locked ? "searched" : outcome, kind, skills: count });
  }
  return [...places.values()];
}
