/** What a rule is: it reports what is wrong and mends the draft where a skill is loaded all the same. */
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import type { BodyFacts, ParsedSkill } from "../skill/skill.ts";
import type { ManifestDraft } from "./build-manifest.ts";
import type { Profile } from "./profiles.ts";
import type { GivenFields } from "./read-fields.ts";
import type { Report } from "./report.ts";

export interface RuleSubject {
  readonly parsed: ParsedSkill;
  readonly fields: GivenFields;
  readonly draft: ManifestDraft;
  readonly body: BodyFacts;
  readonly profile: Profile;
}

export interface Rule {
  /** Every code it can report. */
  readonly codes: readonly DiagnosticCode[];
  /** The fields it is about: it is applied when one of them is given. Absent: it is always applied. */
  readonly fields?: readonly string[];
  check(subject: RuleSubject, report: Report): void;
}
