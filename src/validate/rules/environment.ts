/** Names of environment variables are written as environments have them. */
import { findGiven } from "../read-fields.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

const VARIABLE_NAME = /^[A-Z_][A-Z0-9_]*$/;

export const environmentRule: Rule = {
  codes: ["env.name"],
  fields: ["env", "requires"],
  check({ draft, fields }, report) {
    const env = findGiven(fields.known, "env");
    if (env !== undefined) draft.env = keepNames(draft.env, env.key, report);
    const requires = findGiven(fields.known, "requires");
    if (requires === undefined || draft.requires.env.length === 0) return;
    draft.requires = { ...draft.requires, env: keepNames(draft.requires.env, `${requires.key}.env`, report) };
  },
};

function keepNames(names: readonly string[], key: string, report: Report): readonly string[] {
  return names.filter((name) => {
    if (VARIABLE_NAME.test(name)) return true;
    report("env.name", `\`${key}\` has ${showValue(name)}, which cannot be the name of a variable.`, {
      key,
      hint: "Names have capitals, digits and `_` and do not begin with a digit; this one is left out.",
    });
    return false;
  });
}
