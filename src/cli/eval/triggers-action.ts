/** `metier eval triggers SKILL`: whether a model uses a skill when it should, and only then. */
import { join, resolve } from "node:path";
import { visibleSkills } from "../../disclose/visible-skills.ts";
import { makeIteration, writeJson } from "../../evals/iteration-folder.ts";
import { QUERY_FILES, readQueries } from "../../evals/read/read-queries.ts";
import { renderTriggerReport } from "../../evals/report/trigger-report.ts";
import { findQueryFile } from "../../evals/routing/routing-query.ts";
import { evaluateTriggers } from "../../evals/triggers/evaluate-triggers.ts";
import { UsageError } from "../../foundation/errors.ts";
import { folderName } from "../../host/folder-name.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import type { Skill } from "../../skill/skill.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { queryProgressText, triggersText } from "../output/eval-text.ts";
import { styleFor } from "../output/style.ts";
import { endEvaluation } from "./end-evaluation.ts";
import { type EvalFlags, readEvalFlags, readRate, readSeed, refuseFlags } from "./eval-flags.ts";
import { openEvaluated } from "./find-evaluated.ts";

export async function runTriggers(
  context: CliContext,
  flags: EvalFlags,
  words: readonly string[],
): Promise<void> {
  refuseFlags(flags, ["only", "baseline", "graderModel", "approve", "maxIterations"], " triggers");
  const [asked, ...more] = words;
  if (asked === undefined || more.length > 0) {
    throw new UsageError("`metier eval triggers` takes one skill.", {
      hint: "Name it, or its folder: `metier eval triggers my-skill`.",
    });
  }
  const cwd = workingDirectory(context, flags);
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { metier, open, find } = await openEvaluated(context, flags, [asked]);
  const skill = find(asked);
  const { queries, diagnostics } = readQueries(queryFile(flags, skill, cwd));
  const [first] = diagnostics;
  if (queries.length === 0) throw new UsageError(first?.message ?? "There are no queries.", first);
  const name = folderName(skill.name);
  const style = styleFor(context.io.color);
  const stop = new AbortController();
  const unlisten = context.io.onInterrupt(() => stop.abort());
  const threshold = readRate("--threshold", flags.threshold);
  const seed = readSeed(flags.seed);
  const evaluation = await evaluateTriggers(open, {
    ...readEvalFlags(flags, cwd, name),
    skill: skill.name,
    skills: withSkill(visibleSkills(metier.list()), skill),
    queries,
    signal: stop.signal,
    ...(threshold !== undefined && { threshold }),
    ...(seed !== undefined && { seed }),
    ...(!flags.json && { onProgress: (done) => err(context, queryProgressText(done, style)) }),
  }).finally(unlisten);
  const { path: folder } = makeIteration(resolve(cwd, flags.out ?? "", `${name}-workspace`));
  writeJson(join(folder, "triggers.json"), evaluation);
  writeAtomic(join(folder, "report.html"), renderTriggerReport(evaluation), { mode: 0o644 });
  const passRate = evaluation.summary.all.pass_rate;
  const passed = endEvaluation(context, { ...evaluation, passRate, least, diagnostics });
  if (flags.json) outJson(context, { passed, folder, ...evaluation, diagnostics });
  else {
    out(context, triggersText(evaluation, folder, style));
    err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
    if (evaluation.stopped !== undefined) err(context, evaluation.stopped);
  }
}

function queryFile({ queries }: EvalFlags, skill: Skill, cwd: string): string {
  const file = queries === undefined ? findQueryFile(skill) : resolve(cwd, queries);
  if (file !== undefined) return file;
  throw new UsageError(`\`${skill.name}\` has no queries.`, {
    hint: `Write \`${QUERY_FILES[0]}\`: [{"query": "…", "should_trigger": true}, …]; or name a file with \`--queries\`.`,
  });
}

/** The one under test is there, also when it is disabled or hidden by another one. */
function withSkill(skills: readonly Skill[], tested: Skill): readonly Skill[] {
  return [...skills.filter(({ name }) => name !== tested.name), tested];
}
