/**
 * A place that is searched for skills, with what it means for precedence and trust.
 * The list for a working directory is made by `default-roots.ts`; the search is `scan-root.ts`.
 */
import type { Scope } from "../skill/scope.ts";
import type { LockedSkill } from "../skill/skill.ts";
import type { RootKind } from "../trust/decide-trust.ts";

export interface SkillRoot {
  readonly scope: Scope;
  /** Absolute; a folder of skills, a skill folder or a skill file. */
  readonly path: string;
  /** What it means for trust. */
  readonly kind: RootKind;
  /** Higher overrides lower; two roots of one rank conflict over a name instead. */
  readonly rank: number;
  /** Asked for by name (`--path`, `skills.paths`): that it is missing is worth saying. */
  readonly explicit: boolean;
  /** What a folder grant for this root binds to: the project, or the folder itself. */
  readonly grantFolder: string;
  /** The root is the folder of this one skill, and of no other. */
  readonly locked?: LockedSkill;
}

/** Where a link of a skill may lead when it is used. No other skill is reached through an installed one's folder. */
export function linkTargets(roots: readonly Pick<SkillRoot, "path" | "locked">[]): readonly string[] {
  return roots.filter(({ locked }) => !locked).map(({ path }) => path);
}
