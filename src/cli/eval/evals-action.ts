/** `metier eval [skill…]`: each skill's evals, one skill after the other. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasFolder } from "../../disclose/skill-folder.ts";
import { evaluateSkill } from "../../evals/evaluate-skill.ts";
import type { Evaluation } from "../../evals/evaluation.ts";
import { EVALS_FILE } from "../../evals/read/read-evals.ts";
import { UsageError } from "../../foundation/errors.ts";
import { folderName } from "../../host/folder-name.ts";
import type { Skill } from "../../skill/skill.ts";
import { readCaller } from "../caller-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { evalProgressText, evalText } from "../output/eval-text.ts";
import { styleFor } from "../output/style.ts";
import { readCount } from "../run/run-flags.ts";
import { endEvaluation } from "./end-evaluation.ts";
import { type EvalFlags, readEvalFlags, readRate, refuseFlags } from "./eval-flags.ts";
import { type EvaluatedCatalog, openEvaluated } from "./find-evaluated.ts";

export async function runEvals(
  context: CliContext,
  flags: EvalFlags,
  names: readonly string[],
): Promise<void> {
  refuseFlags(flags, ["queries", "threshold", "seed"], "");
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { baseline } = flags;
  const catalog = await openEvaluated(context, flags, [
    ...names,
    ...(baseline === undefined ? [] : [asPath(baseline)]),
  ]);
  const skills = chooseSkills(catalog, names, baseline);
  const evaluations: EvaluatedSkill[] = [];
  for (const [folder, skill] of nameFolders(skills)) {
    const evaluation = await evaluateOne(context, flags, catalog, skill, folder);
    const passRate = evaluation.benchmark.run_summary.with_skill?.pass_rate.mean ?? 0;
    const passed = endEvaluation(context, { ...evaluation, passRate, least });
    evaluations.push({ skill: skill.name, passed, ...evaluation });
    if (!flags.json) tell(context, skill.name, evaluation, least);
    if (evaluation.cancelled) break;
  }
  if (flags.json) {
    outJson(context, { passed: evaluations.every(({ passed }) => passed), evaluations });
  }
}

interface EvaluatedSkill extends Evaluation {
  readonly skill: string;
  readonly passed: boolean;
}

/** So that a folder beside us is not taken for a name. */
function asPath(text: string): string {
  return /[/\\]/.test(text) ? text : `./${text}`;
}

function chooseSkills(
  { metier, findAll }: EvaluatedCatalog,
  names: readonly string[],
  baseline: string | undefined,
): readonly Skill[] {
  const skills =
    names.length > 0
      ? names.flatMap((name) => requireSome(findAll(name, hasEvals), `in \`${name}\``))
      : requireSome(metier.list().filter(hasEvals), "you can use here");
  if (baseline !== undefined && (names.length !== 1 || skills.length !== 1)) {
    throw new UsageError("`--baseline` compares two versions of one skill: name exactly one.");
  }
  return [...new Set(skills)];
}

function hasEvals(skill: Skill): boolean {
  return hasFolder(skill) && existsSync(join(skill.directory, EVALS_FILE));
}

/** `where` says which were looked at. */
function requireSome(skills: readonly Skill[], where: string): readonly Skill[] {
  if (skills.length > 0) return skills;
  throw new UsageError(`None of the skills ${where} has evals.`, {
    hint: `Add \`${EVALS_FILE}\` to a skill, and name the skill or its folder.`,
  });
}

/** What its iterations and recordings are kept under: for each skill its own, also when two have one name. */
function nameFolders(skills: readonly Skill[]): ReadonlyMap<string, Skill> {
  const named = new Map<string, Skill>();
  for (const skill of skills) {
    const name = folderName(skill.name);
    let folder = name;
    for (let number = 2; named.has(folder); number++) folder = `${name}-${number}`;
    named.set(folder, skill);
  }
  return named;
}

function evaluateOne(
  context: CliContext,
  flags: EvalFlags,
  { open, find }: EvaluatedCatalog,
  skill: Skill,
  folder: string,
): Promise<Evaluation> {
  const cwd = workingDirectory(context, flags);
  const { baseline, only, graderModel, maxIterations, approve } = flags;
  const stop = new AbortController();
  const unlisten = context.io.onInterrupt(() => stop.abort());
  const style = styleFor(context.io.color);
  return evaluateSkill(open, {
    ...readEvalFlags(flags, cwd, folder),
    skill,
    workspace: resolve(cwd, flags.out ?? "", `${folder}-workspace`),
    caller: readCaller({}),
    signal: stop.signal,
    ...(approve && { approve: "all" as const }),
    ...(only && { only }),
    ...(graderModel !== undefined && { graderModel }),
    ...(maxIterations !== undefined && { maxIterations: readCount("--max-iterations", maxIterations) }),
    ...(baseline !== undefined && { baseline: find(asPath(baseline)) }),
    ...(!flags.json && { onProgress: (done) => err(context, evalProgressText(done, style)) }),
  }).finally(unlisten);
}

function tell(context: CliContext, name: string, evaluation: Evaluation, least: number | undefined): void {
  const style = styleFor(context.io.color);
  const { diagnostics, stopped } = evaluation;
  out(context, evalText(name, evaluation, least, style));
  err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
  if (stopped !== undefined) err(context, stopped);
}
