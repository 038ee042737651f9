/** Sources → parse → validate → trust → precedence → status: how a catalog comes to be, on one screen. */
import { checkSkillTables } from "../config/check-skill-tables.ts";
import type { LoadedConfig } from "../config/config.ts";
import { compareDiagnostics, type Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill, SkillPlace } from "../skill/skill.ts";
import { leavesProject } from "../sources/scan-root.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Embedding } from "../trust/decide-trust.ts";
import type { Grants } from "../trust/grants.ts";
import type { Profile } from "../validate/profiles.ts";
import { Catalog, type SearchedPlace } from "./catalog.ts";
import { type DecideStatus, statusDecider } from "./decide-status.ts";
import { type GivenSkill, placeGiven } from "./given-skills.ts";
import { placeSkills } from "./place-skills.ts";
import type { PlacedSkill } from "./placed-skill.ts";
import { type RootContent, readRoot } from "./read-root.ts";
import { type Resolution, resolvePrecedence } from "./resolve-precedence.ts";

export interface CatalogRequest {
  readonly roots: readonly SkillRoot[];
  /** Skills given as objects by the embedding program. */
  readonly given: readonly GivenSkill[];
  readonly integrationRank: number;
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
  const contents: RootContent[] = [];
  for (const root of request.roots) {
    contents.push(await readRoot(root, { profile, nested: config.skills.nested, knownRoots, cacheFolder }));
  }
  const { placed, diagnostics: trustDiagnostics } = placeSkills(contents, { ...request, config });
  const given = placeGiven(request.given, request);
  const resolved = resolvePrecedence([...placed, ...given.placed]);
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
      ...contents.flatMap(({ diagnostics }) => diagnostics),
      ...trustDiagnostics,
      ...given.diagnostics,
      ...resolved.diagnostics,
      ...notes,
    ].sort(compareDiagnostics),
    contents.map(toPlace),
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
  const { candidate, manifest, root, trust, body, diagnostics } = skill;
  return Object.freeze({
    name: manifest.name,
    description: manifest.description,
    manifest: Object.freeze(manifest),
    form: candidate.form,
    scope: root.scope,
    location: candidate.file,
    directory: candidate.directory,
    root: root.path,
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

function toPlace({ root, outcome, skills }: RootContent): SearchedPlace {
  return { scope: root.scope, path: root.path, outcome, kind: root.kind, skills: skills.length };
}
