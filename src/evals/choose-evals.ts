/** The evals of a skill that are to be run. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasFolder } from "../disclose/skill-folder.ts";
import { SkillValidationError, UsageError } from "../foundation/errors.ts";
import type { EvaluationOptions } from "./evaluation.ts";
import { EVALS_FILE, type EvalsReading, readEvals } from "./read/read-evals.ts";

/** Throws `UsageError` when there are none, and `SkillValidationError` when none can be used. */
export function chooseEvals({ skill, only }: Pick<EvaluationOptions, "skill" | "only">): EvalsReading {
  if (!hasFolder(skill)) {
    throw new UsageError(`The skill \`${skill.name}\` has no folder of its own, so no evals lie beside it.`, {
      hint: "Make it a folder with `SKILL.md` and `evals/evals.json`.",
    });
  }
  if (!existsSync(join(skill.directory, EVALS_FILE))) {
    throw new UsageError(`The skill \`${skill.name}\` has no evals.`, {
      hint: `Write \`${EVALS_FILE}\` into its folder: {"evals": [{"id": 1, "prompt": "…", "assertions": ["…"]}]}.`,
    });
  }
  const { evals, diagnostics } = readEvals(skill.directory, skill.name);
  if (evals.length === 0) {
    const faults = diagnostics.map(({ line = 1, message }) => `line ${line}: ${message}`);
    const file = join(skill.directory, EVALS_FILE);
    throw new SkillValidationError(skill.name, [`no eval in ${file} can be used`, ...faults], file);
  }
  if (only === undefined) return { evals, diagnostics };
  const chosen = only.map((wanted) => {
    const found = evals.find(({ id, name, folder }) => [id, name, folder].includes(wanted));
    if (found) return found;
    throw new UsageError(`There is no eval \`${wanted}\`.`, {
      hint: `There are ${evals.map(({ id }) => `\`${id}\``).join(", ")}.`,
    });
  });
  return { evals: [...new Set(chosen)], diagnostics };
}
