/**
 * "Always" on an approval: what the run suggests as rules for such calls is written into the user's config, by the same code as
 * at a terminal. Before the answer is given, so that nobody is told of a rule that is not there.
 */
import { done, type Result } from "@metier/base/result";
import type { Question } from "@metier/durable";
import { ruleLine } from "@metier/skills/config";
import { type HttpRefusal, refuse, refuseRequest } from "../http/refusal.ts";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

/** Patterns that cover the call; none where no pattern can. */
function rulesOf({ body: { rules } }: Question): readonly string[] {
  return Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [];
}

/** The lines of the config that "always" would write; `undefined`: no rule can say it. */
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
        ? "Use a key with the scope `admin`, or approve this call alone."
        : "Start `metier inspect --allow-edit`, or approve this call alone.";
    return refuse(403, "rules_not_editable", "Rules of the config cannot be written from here.", hint);
  }
  const patterns = rulesOf(question);
  if (patterns.length === 0) {
    return refuseRequest('No rule of the config can say "always" to this call.', "Approve this call alone.");
  }
  if (question.status !== "pending") return done(undefined); // Whoever answers it is told.
  const written = await rules.allow(patterns);
  if (written.ok) return done(undefined);
  const { message, hint = "Approve this call alone." } = written.refusal;
  return refuse(409, "rule_not_written", message, hint);
}
