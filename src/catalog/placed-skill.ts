/** A sound skill with everything that precedence, trust and status are decided on; the step before `Skill`. */

import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { BodyFacts, RemoteOrigin, SkillCandidate, TrustDecision } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";

export interface PlacedSkill {
  readonly candidate: SkillCandidate;
  readonly manifest: SkillManifest;
  readonly root: SkillRoot;
  /** Real path of the skill file; for a skill given as an object its location, which is `""`. */
  readonly realFile: string;
  /** Of a skill that an MCP server offers: nothing of it may be on disk. */
  readonly remote?: RemoteOrigin;
  readonly trust: TrustDecision;
  readonly body: BodyFacts;
  readonly diagnostics: readonly Diagnostic[];
}
