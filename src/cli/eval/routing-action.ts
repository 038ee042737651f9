/** `metier eval routing`: which skills of the catalog are mistaken for which. */
import { join, resolve } from "node:path";
import { visibleSkills } from "../../disclose/visible-skills.ts";
import { writeJson } from "../../evals/iteration-folder.ts";
import { renderRoutingReport } from "../../evals/report/routing-report.ts";
import { evaluateRouting } from "../../evals/routing/evaluate-routing.ts";
import {
  collectQueries,
  type RoutingQueries,
  readRoutingQueries,
} from "../../evals/routing/routing-query.ts";
import { UsageError } from "../../foundation/errors.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import type { Skill } from "../../skill/skill.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { queryProgressText, routingText } from "../output/eval-text.ts";
import { styleFor } from "../output/style.ts";
import { endEvaluation } from "./end-evaluation.ts";
import { type EvalFlags, readEvalFlags, readRate, refuseFlags } from "./eval-flags.ts";
import { openEvaluated } from "./find-evaluated.ts";

const NOT_FOR_ROUTING = [
  "runs",
  "only",
  "baseline",
  "graderModel",
  "approve",
  "maxIterations",
  "threshold",
  "seed",
] as const;

export async function runRouting(
  context: CliContext,
  flags: EvalFlags,
  words: readonly string[],
): Promise<void> {
  refuseFlags(flags, NOT_FOR_ROUTING, " routing");
  const [unwanted] = words;
  if (unwanted !== undefined) {
    throw new UsageError(`\`metier eval routing\` looks at the whole catalog; \`${unwanted}\` is too much.`, {
      hint: "Add skills to it with `--path`.",
    });
  }
  const cwd = workingDirectory(context, flags);
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { metier, open } = await openEvaluated(context, flags, []);
  const skills = visibleSkills(metier.list());
  const { queries, diagnostics } = readAll(flags, skills, cwd);
  const style = styleFor(context.io.color);
  const stop = new AbortController();
  const unlisten = context.io.onInterrupt(() => stop.abort());
  const options = readEvalFlags(flags, cwd, "");
  const evaluation = await evaluateRouting(open, {
    ...options,
    skills,
    queries,
    asksModel: [flags.model, flags.record, flags.replay].some((flag) => flag !== undefined),
    signal: stop.signal,
    ...(!flags.json && { onProgress: (done) => err(context, queryProgressText(done, style)) }),
  }).finally(unlisten);
  if (flags.out !== undefined) {
    const folder = resolve(cwd, flags.out);
    writeJson(join(folder, "routing.json"), evaluation);
    writeAtomic(join(folder, "report.html"), renderRoutingReport(evaluation), { mode: 0o644 });
  }
  const { search, model, errors, cancelled, stopped } = evaluation;
  const passed = endEvaluation(context, {
    passRate: (model ?? search)?.pass_rate ?? 1, // Overlaps are for people to judge.
    least,
    errors: errors.length,
    cancelled,
    stopped,
    diagnostics,
  });
  if (flags.json) outJson(context, { passed, ...evaluation, diagnostics });
  else {
    out(context, routingText(evaluation, style));
    err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
    if (evaluation.stopped !== undefined) err(context, evaluation.stopped);
  }
}

function readAll({ queries }: EvalFlags, skills: readonly Skill[], cwd: string): RoutingQueries {
  if (queries === undefined) return collectQueries(skills);
  const names = skills.map(({ name }) => name);
  return readRoutingQueries(resolve(cwd, queries), names);
}
