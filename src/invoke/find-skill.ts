/**
 * From a name to the skill as it is now: the file is read and checked anew, its trust is decided anew. A name that is not
 * known, a file that cannot be used any more and trust that was lost are reasons to load the catalog again, once.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { SkillTrust, TrustOnUse } from "../catalog/skill-trust.ts";
import type { LoadedConfig } from "../config/config.ts";
import { type Instructions, readInstructions } from "../disclose/read-instructions.ts";
import { SkillError, SkillLoadError } from "../foundation/errors.ts";
import type { Readiness } from "../remote/ready-skill.ts";
import { refuseLoad } from "../remote/refuse-load.ts";
import type { Skill } from "../skill/skill.ts";
import { linkTargets, type SkillRoot } from "../sources/skill-root.ts";
import type { Profile } from "../validate/profiles.ts";

/** One state of everything that is loaded. Replaced as a whole by a reload. */
export interface InvocationState {
  readonly catalog: Catalog;
  readonly config: Pick<LoadedConfig, "config" | "origins">;
  readonly roots: readonly Pick<SkillRoot, "path" | "locked">[];
  readonly trustOnUse: TrustOnUse;
}

export interface SkillSources {
  current(): InvocationState;
  /** Loads everything again, so that `current` answers with a new state. */
  reload?(): Promise<unknown>;
  readonly profile?: Profile;
  /** The body of a skill that was given as an object. */
  bodyOf?(skill: Skill): string | undefined;
  /** Whether the files of a skill of an MCP server are here and as declared; fetches them. */
  ready?(skill: Skill): Promise<Readiness>;
}

export interface FoundSkill extends SkillTrust {
  /** With the manifest that its file has now. */
  readonly skill: Skill;
  /** Absent when the file cannot be read or is no skill any more; `fault` says why. */
  readonly instructions?: Instructions;
  readonly fault?: SkillError;
}

export interface Finding {
  readonly state: InvocationState;
  /** Absent when there is no such skill. */
  readonly found?: FoundSkill;
}

export async function findSkill(name: string, sources: SkillSources): Promise<Finding> {
  const { isStale, ...finding } = await look(name, sources);
  if (!isStale || sources.reload === undefined) return finding;
  await sources.reload();
  const { isStale: _, ...again } = await look(name, sources);
  return again;
}

interface Look extends Finding {
  /** The catalog does not say any more how things are. */
  readonly isStale: boolean;
}

async function look(name: string, sources: SkillSources): Promise<Look> {
  const state = sources.current();
  const listed = state.catalog.get(name);
  if (listed === undefined) return { state, isStale: true };
  const readiness = listed.remote ? await sources.ready?.(listed) : undefined;
  if (readiness && readiness.kind !== "ready") {
    const { trust } = listed;
    const fault = refuseLoad(listed, readiness);
    const isStale = readiness.kind === "changed";
    return { state, found: { skill: listed, trust, userValues: trust, fault }, isStale };
  }
  const read = await readNow(listed, state, sources);
  // After the text was read, so that a change in between costs the grant.
  const { trust, userValues, changed } = state.trustOnUse(listed);
  const fault = changed ? new SkillLoadError(name, listed.location, changed.message, changed) : read;
  if (fault instanceof SkillError) {
    return { state, found: { skill: listed, trust, userValues, fault }, isStale: true };
  }
  const { manifest } = fault;
  const skill = Object.freeze({ ...listed, manifest, description: manifest.description, trust });
  // A skill that lost its trust must not hide a trusted one of its name.
  const isStale = listed.trust.level === "trusted" && trust.level === "untrusted";
  const diagnostics = [...(readiness?.diagnostics ?? []), ...fault.diagnostics];
  return { state, found: { skill, trust, userValues, instructions: { ...fault, diagnostics } }, isStale };
}

async function readNow(
  skill: Skill,
  { roots }: InvocationState,
  { profile, bodyOf }: SkillSources,
): Promise<Instructions | SkillError> {
  try {
    return await readInstructions(skill, {
      roots: linkTargets(roots),
      ...(profile && { profile }),
      ...(bodyOf && { bodyOf }),
    });
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}
