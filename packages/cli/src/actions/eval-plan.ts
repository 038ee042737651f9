/** `metier eval --dry-run`: shows what an evaluation would run, and whether its files can be read. Calls no model. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { hasErrors } from "@metier/base/diagnostic";
import { EXIT } from "@metier/base/errors";
import { safeLine } from "@metier/base/text";
import type { Skill } from "@metier/skills";
import { checkEvalFiles, chooseEvals } from "@metier/skills/formats";
import type { EvalFlags } from "../commands/authoring.ts";
import { type CliContext, endWith, err, reply } from "../context.ts";
import { diagnosticsText } from "../output/diagnostics.ts";
import { count, styleFor } from "../output/style.ts";
import { readCount } from "./run-request.ts";

interface EvalPlan {
  readonly skill: string;
  readonly runs: number;
  readonly evals: readonly {
    readonly id: string;
    readonly name: string;
    readonly prompt: string;
    readonly files: readonly string[];
    /** Decided by a check or a script, and by a model. */
    readonly checked: number;
    readonly graded: number;
  }[];
  readonly diagnostics: readonly Diagnostic[];
}

const SIDES = 2;

export function planEvals(context: CliContext, flags: EvalFlags, skills: readonly Skill[]): void {
  const runs = readCount("--runs", flags.runs) ?? 1;
  const plans = skills.map((skill) => planSkill(skill, flags, runs));
  const diagnostics = plans.flatMap((plan) => plan.diagnostics);
  if (!flags.json) err(context, diagnosticsText(diagnostics, styleFor(context.io.color)));
  reply(context, flags, { evaluations: plans }, () => plans.map(planText).join("\n"));
  if (hasErrors(diagnostics)) endWith(context, EXIT.no);
}

function planSkill(skill: Skill, { only }: EvalFlags, runs: number): EvalPlan {
  const { evals } = chooseEvals({ skill, ...(only && { only }) });
  return {
    skill: skill.name,
    runs: evals.length * SIDES * runs,
    evals: evals.map(({ id, name, prompt, files, assertions }) => {
      const graded = assertions.filter(({ check }) => check.kind === "model").length;
      const paths = files.map(({ target }) => target);
      return { id, name, prompt, files: paths, checked: assertions.length - graded, graded };
    }),
    diagnostics: checkEvalFiles(skill.directory, skill.name),
  };
}

function planText({ skill, runs, evals }: EvalPlan): string {
  const rows = evals.map(({ id, name, files, checked, graded }) => {
    const input = files.length === 0 ? "" : `, ${count(files.length, "input file")}`;
    return `  ${safeLine(id)}  ${safeLine(name)}: ${checked} checked, ${graded} graded by a model${input}`;
  });
  const head = `${safeLine(skill)}: ${count(evals.length, "eval")}, ${count(runs, "run")} (with the skill and without it).`;
  return [head, ...rows, "Nothing ran. Leave out `--dry-run` to run it with your model."].join("\n");
}
