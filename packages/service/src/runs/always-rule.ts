/**
 * "Always" on an approval: writes the rules that the run suggests for such calls into the user's config, with the same
 * code as in a terminal. Before the answer is stored, so that nobody is told about a missing rule.
 */
import { done, type Result } from "@metier/base/result";
import type { Question } from "@metier/durable";
import { ruleLine } from "@metier/skills/config";
import { type HttpRefusal, refuse, refuseRequest } from "../http/refusal.ts";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

/** Patterns that cover the call; empty if no pattern can. */
function rulesOf({ body: { rules } }: Question): readonly string[] {
  return Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [];
}

/** The config lines that "always" would write; `undefined`: no rule can say it. */
export function showAlwaysRule(question: Question): string | undefined {
  const rules = rulesOf(question);
  return rules.length === 0 ? undefined : rules.map(ruleLine).join("\n");
}

export async function allowAlways(
  { rules, person }: ServiceContext,
  identity: Identity,
  question: Question,
): Promise<Result<undefined, HttpRefusal>> {
  if (!rules?.mayEdit(identity)) {
    const hint =
      person === undefined
        ? "Use a key with the scope `admin`, or approve only this call."
        : "Start `metier inspect --allow-edit`, or approve only this call.";
    return refuse(403, "rules_not_editable", "Config rules cannot be written from here.", hint);
  }
  const patterns = rulesOf(question);
  if (patterns.length === 0) {
    return refuseRequest('No config rule can say "always" for this call.', "Approve only this call.");
  }
  if (question.status !== "pending") return done(undefined); // Whoever answers it is told.
  const written = await rules.allow(patterns);
  if (written.ok) return done(undefined);
  const { message, hint = "Approve only this call." } = written.refusal;
  return refuse(409, "rule_not_written", message, hint);
}
