/** Sources → parse → validate → trust → precedence → status: how a catalog is built, on one screen. */
import { compareDiagnostics, type Diagnostic } from "@metier/base/diagnostic";
import { type RealPathOf, rememberRealPaths } from "@metier/base/places";
import type { LoadedConfig } from "../config/config.ts";
import { checkSkillTables } from "../config/skill-settings.ts";
import type { Skill, SkillLocation } from "../skill/skill.ts";
import type { InstalledSkills } from "../sources/installed-skills.ts";
import { leavesProject } from "../sources/search-root.ts";
import type { RemoteSkills, SkillRoot } from "../sources/skill-roots.ts";
import type { Embedding } from "../trust/decide-trust.ts";
import type { Grants } from "../trust/grants.ts";
import type { Profile } from "../validate/profiles.ts";
import { Catalog, type SearchedPlace } from "./catalog.ts";
import { type DecideStatus, statusDecider } from "./decide-status.ts";
import { type GivenSkill, type PlacedSkill, placeGiven, placeRemote, placeSkills } from "./place-skills.ts";
import { type RootContent, readRoot, rememberReads } from "./read-root.ts";
import { type Resolution, resolvePrecedence } from "./resolve-precedence.ts";
import { startSecondThread } from "./second-thread.ts";
import { settleInstalled } from "./settle-installed.ts";
import { openIndexes } from "./skill-index.ts";

interface CatalogRequest {
  readonly roots: readonly SkillRoot[];
  /** Skills defined in code by the embedding program. */
  readonly given: readonly GivenSkill[];
  /** What the locks record, in addition to the roots. */
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
  readonly realPathOf?: RealPathOf | undefined;
  /** Diagnostics so far, about grants and project folders. */
  readonly diagnostics: readonly Diagnostic[];
}

export async function buildCatalog(request: CatalogRequest): Promise<Catalog> {
  const { loaded, profile, cacheFolder, realPathOf = rememberRealPaths() } = request;
  const { config } = loaded;
  const knownRoots = knownRootPaths(request.roots, realPathOf);
  const once = { knownRoots, realPathOf, reads: rememberReads() };
  const read: RootContent[] = [];
  const isAlone = request.environment.METIER_THREADS === "1";
  const indexes = openIndexes({
    cacheFolder,
    profile,
    roots: request.roots,
    startThread: isAlone ? undefined : startSecondThread,
  });
  for (const root of request.roots) {
    const index = indexes.of(root);
    read.push(await readRoot(root, { profile, nested: config.skills.nested, index, ...once }));
  }
  indexes.saveShared();
  const { contents, diagnostics: installDiagnostics } = settleInstalled(read, request.installed, realPathOf);
  const { placed, diagnostics: trustDiagnostics } = placeSkills(contents, {
    ...request,
    config,
    realPathOf,
  });
  const given = placeGiven(request.given, request);
  const others = [...placed, ...given.placed];
  const remote = placeRemote({ ...request, others });
  const resolved = resolvePrecedence([...others, ...remote.placed]);
  const decide = statusDecider(config, request.environment);
  const skills: Skill[] = [];
  const notes: Diagnostic[] = [];
  for (const resolution of resolved.resolutions) addSkills(resolution, decide, skills, notes);
  return new Catalog(
    skills,
    [
      ...loaded.diagnostics,
      ...checkSkillTables(loaded, () => new Set(skills.map(({ name }) => name))),
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

/** Where links may lead. A project folder that is itself a link out of its project adds no target. */
function knownRootPaths(roots: readonly SkillRoot[], realPathOf: RealPathOf): ReadonlySet<string> {
  const inside = roots.filter((root) => !leavesProject(root, realPathOf(root.path)));
  return new Set(inside.map(({ path }) => realPathOf(path)));
}

/** The winner, then the skills it shadows; `allNotes` collects messages about it. */
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
  skills.push(toSkill(winner, { status, reason, shadows, notes }));
  for (const loser of shadowed) {
    const verdict = { status: "shadowed", reason: loser.reason, shadows: NONE, notes: NONE } as const;
    skills.push(toSkill(loser.skill, { ...verdict, shadowedBy: placeOf(winner) }));
  }
}

const NONE: readonly never[] = Object.freeze([]);

interface Verdict extends Pick<Skill, "status" | "shadows" | "reason" | "shadowedBy"> {
  readonly notes: readonly Diagnostic[];
}

function toSkill(skill: PlacedSkill, { notes, status, shadows, reason, shadowedBy }: Verdict): Skill {
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
    locked: root.locked,
    source: root.source,
    remote,
    trust: Object.freeze(trust),
    status,
    shadows,
    body,
    diagnostics: notes.length === 0 ? diagnostics : [...diagnostics, ...notes],
    reason,
    shadowedBy,
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

function placeOf({ root, candidate }: PlacedSkill): SkillLocation {
  return { scope: root.scope, location: candidate.file };
}

/** A lock's skills are one place: the lock. The same applies to a source's. */
function describePlaces(contents: readonly RootContent[]): readonly SearchedPlace[] {
  const places = new Map<string, SearchedPlace>();
  for (const { root, outcome, skills } of contents) {
    const { scope, kind, locked, source } = root;
    const path = locked?.lock ?? (source ? `source:${source.source}` : root.path);
    const key = `${scope}\0${path}`;
    const count = (places.get(key)?.skills ?? 0) + skills.length;
    places.set(key, { scope, path, outcome: locked || source ? "searched" : outcome, kind, skills: count });
  }
  return [...places.values()];
}
