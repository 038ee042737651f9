/**
 * `metier eval [skill…]` runs the evals of each skill in turn. `eval triggers SKILL` measures whether a model uses a
 * skill when it should, and only then. `eval routing` finds skills in the catalog that get mistaken for each other.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "@metier/base/errors";
import { folderName, writeAtomic } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import {
  type EvalProgress,
  type Evaluation,
  evaluateRouting,
  evaluateSkill,
  evaluateTriggers,
  makeIteration,
  type RoutingEvaluation,
  writeJson,
} from "@metier/evals";
import { hasFolder, type Skill, visibleSkills } from "@metier/skills";
import {
  collectQueries,
  EVALS_FILE,
  findQueryFile,
  QUERY_FILES,
  type RoutingQueries,
  readQueries,
  readRoutingQueries,
} from "@metier/skills/formats";
import type { EvalFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, err, out, outJson, withInterrupt } from "../context.ts";
import { readCaller, workingDirectory } from "../open-metier.ts";
import { diagnosticsText } from "../output/diagnostics.ts";
import {
  evalProgressText,
  evalText,
  queryProgressText,
  routingText,
  triggersText,
} from "../output/eval-text.ts";
import { evalReport, routingReport, triggerReport } from "../output/html-reports.ts";
import { createProgressLine, type ProgressView } from "../output/progress.ts";
import { type Style, styleFor } from "../output/style.ts";
import {
  type EvaluatedCatalog,
  endEvaluation,
  openEvaluated,
  readEvalFlags,
  readRate,
  readSeed,
  refuseFlags,
} from "./eval.ts";
import { planEvals } from "./eval-plan.ts";
import { readCount } from "./run-request.ts";

export const evalTasksAction: Action<EvalFlags> = async (context, flags, ...names) => {
  refuseFlags(flags, ["queries", "threshold", "seed"], "");
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { baseline } = flags;
  const also = baseline === undefined ? [] : [asPath(baseline)];
  const catalog = await openEvaluated(context, flags, [...names, ...also]);
  const skills = chooseSkills(catalog, names, baseline);
  if (flags.dryRun) return planEvals(context, flags, skills);
  const evaluations: (Evaluation & { readonly skill: string; readonly passed: boolean })[] = [];
  for (const [folder, skill] of nameFolders(skills)) {
    const evaluation = await evaluateOne(context, flags, catalog, skill, folder);
    writeReport(evaluation.iteration.path, evalReport(skill.name, evaluation));
    const passRate = evaluation.benchmark.run_summary.with_skill?.pass_rate.mean ?? 0;
    const passed = endEvaluation(context, { ...evaluation, passRate, least });
    evaluations.push({ skill: skill.name, passed, ...evaluation });
    if (!flags.json) tell(context, evaluation, evalText(skill.name, evaluation, least, styleOf(context)));
    if (evaluation.cancelled) break;
  }
  if (flags.json)
    outJson(context, {
      passed: evaluations.every(({ passed }) => passed),
      evaluations: evaluations.map(withoutTasks),
    });
};

/** The requested values, from the skill's own file. */
function withoutTasks<Rest>({ evals: _, ...rest }: Rest & Pick<Evaluation, "evals">): object {
  return rest;
}

/** What was found, the problems in the evals, and what stopped it early. */
function tell(
  context: CliContext,
  { diagnostics, stopped = "" }: Pick<Evaluation, "diagnostics" | "stopped">,
  text: string,
): void {
  out(context, text);
  err(context, diagnosticsText(diagnostics, styleOf(context)));
  err(context, stopped);
}

function writeReport(folder: string, page: string): void {
  writeAtomic(join(folder, "report.html"), page, { mode: 0o644 });
}

function styleOf({ io }: CliContext): Style {
  return styleFor(io.color);
}

/** Keeps a folder next to the working directory from being taken for a name. */
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

/** `where` says which skills were checked. */
function requireSome(skills: readonly Skill[], where: string): readonly Skill[] {
  if (skills.length > 0) return skills;
  throw new UsageError(`None of the skills ${where} has evals.`, {
    hint: `Add \`${EVALS_FILE}\` to a skill, then pass its name or folder.`,
  });
}

/** The folder for its iterations and recordings: separate for each skill, even if two share a name. */
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
  const options = {
    ...readEvalFlags(flags, cwd, folder),
    skill,
    workspace: resolve(cwd, flags.out ?? "", `${folder}-workspace`),
    caller: readCaller({}),
    ...presentFields({
      approve: approve ? ("all" as const) : undefined,
      only,
      graderModel,
      maxIterations: readCount("--max-iterations", maxIterations),
      baseline: baseline === undefined ? undefined : find(asPath(baseline)),
    }),
    ...(!flags.json && {
      onProgress(step: EvalProgress) {
        progress.note(evalProgressText(step, styleOf(context)));
        progress.show({ what: "Evaluating", done: step.done, total: step.total });
      },
    }),
  };
  const progress = openProgress(context, flags, "Evaluating");
  return withInterrupt(context, (signal) => evaluateSkill(open, { ...options, signal })).finally(
    progress.end,
  );
}

/** Shown at once, since the first run may take long. */
function openProgress({ io }: CliContext, { json }: EvalFlags, what: string): ProgressView {
  const progress = createProgressLine(json ? { write: () => undefined } : io.stderr);
  progress.show({ what });
  return progress;
}

const NOT_FOR_QUERIES = ["dryRun", "only", "baseline", "graderModel", "approve", "maxIterations"] as const;

export const triggersAction: Action<EvalFlags> = async (context, flags, ...words) => {
  refuseFlags(flags, NOT_FOR_QUERIES, " triggers");
  const [asked, ...more] = words;
  if (asked === undefined || more.length > 0) {
    throw new UsageError("`metier eval triggers` takes one skill.", {
      hint: "Pass its name or folder: `metier eval triggers my-skill`.",
    });
  }
  const cwd = workingDirectory(context, flags);
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { metier, open, find } = await openEvaluated(context, flags, [asked]);
  const skill = find(asked);
  const { queries, diagnostics } = readQueries(queryFile(flags, skill, cwd));
  const [first] = diagnostics;
  if (queries.length === 0) throw new UsageError(first?.message ?? "No queries found.", first);
  const name = folderName(skill.name);
  const threshold = readRate("--threshold", flags.threshold);
  const seed = readSeed(flags.seed);
  const options = {
    ...readEvalFlags(flags, cwd, name),
    skill: skill.name,
    skills: withSkill(visibleSkills(metier.list()), skill),
    queries,
    ...presentFields({ threshold, seed }),
  };
  const evaluation = await askQueries(context, flags, ({ signal, onProgress }) =>
    evaluateTriggers(open, { ...options, signal, onProgress }),
  );
  const { path: folder, number } = makeIteration(resolve(cwd, flags.out ?? "", `${name}-workspace`));
  writeJson(join(folder, "triggers.json"), evaluation);
  writeReport(folder, triggerReport(evaluation, number));
  const passRate = evaluation.summary.all.pass_rate;
  const passed = endEvaluation(context, { ...evaluation, passRate, least, diagnostics });
  if (flags.json) outJson(context, { passed, folder, ...evaluation, diagnostics });
  else tell(context, { ...evaluation, diagnostics }, triggersText(evaluation, folder, styleOf(context)));
};

interface QueryWishes {
  readonly signal: AbortSignal;
  onProgress(step: QueryStep): void;
  onCompared(done: number, total: number): void;
}

/** Asks all queries and prints one line for each answer. `first` runs before the first of them. */
async function askQueries<Value>(
  context: CliContext,
  flags: EvalFlags,
  ask: (wishes: QueryWishes) => Promise<Value>,
  first = ASKING,
): Promise<Value> {
  const progress = openProgress(context, flags, first);
  const onCompared = (done: number, total: number): void => progress.show({ what: first, done, total });
  const onProgress = (step: QueryStep): void => {
    if (!flags.json) progress.note(queryProgressText(step, styleOf(context)));
    progress.show({ what: ASKING, done: step.done, total: step.total });
  };
  return withInterrupt(context, (signal) => ask({ signal, onProgress, onCompared })).finally(progress.end);
}

type QueryStep = Parameters<typeof queryProgressText>[0];

const ASKING = "Asking the model";

function queryFile({ queries }: EvalFlags, skill: Skill, cwd: string): string {
  const file = queries === undefined ? findQueryFile(skill) : resolve(cwd, queries);
  if (file !== undefined) return file;
  throw new UsageError(`\`${skill.name}\` has no queries.`, {
    hint: `Write \`${QUERY_FILES[0]}\`: [{"query": "…", "should_trigger": true}, …], or pass \`--queries <file>\`.`,
  });
}

/** Includes the skill under test even if it is disabled or shadowed. */
function withSkill(skills: readonly Skill[], tested: Skill): readonly Skill[] {
  return [...skills.filter(({ name }) => name !== tested.name), tested];
}

export const routingAction: Action<EvalFlags> = async (context, flags, ...words) => {
  refuseFlags(flags, ["runs", ...NOT_FOR_QUERIES, "threshold", "seed"], " routing");
  const [unwanted] = words;
  if (unwanted !== undefined) {
    throw new UsageError(
      `\`metier eval routing\` checks the whole catalog and takes no skill, but got \`${unwanted}\`.`,
      {
        hint: "Add skills to the catalog with `--path`.",
      },
    );
  }
  const cwd = workingDirectory(context, flags);
  const least = readRate("--min-pass-rate", flags.minPassRate);
  const { metier, open } = await openEvaluated(context, flags, []);
  const skills = visibleSkills(metier.list());
  const names = skills.map(({ name }) => name);
  const { queries, diagnostics }: RoutingQueries =
    flags.queries === undefined
      ? collectQueries(skills)
      : readRoutingQueries(resolve(cwd, flags.queries), names);
  const options = {
    ...readEvalFlags(flags, cwd, ""),
    skills,
    queries,
    asksModel: [flags.model, flags.record, flags.replay].some((flag) => flag !== undefined),
  };
  const ask = (wishes: QueryWishes): Promise<RoutingEvaluation> =>
    evaluateRouting(open, { ...options, ...wishes });
  const evaluation = await askQueries(context, flags, ask, "Comparing descriptions");
  if (flags.out !== undefined) {
    const folder = resolve(cwd, flags.out);
    writeJson(join(folder, "routing.json"), evaluation);
    writeReport(folder, routingReport(evaluation));
  }
  const { search, model, errors } = evaluation;
  const passRate = (model ?? search)?.pass_rate ?? 1; // Overlaps are for people to judge.
  const ending = { ...evaluation, errors: errors.length, passRate, least, diagnostics };
  const passed = endEvaluation(context, ending);
  if (flags.json) outJson(context, { passed, ...evaluation, diagnostics });
  else tell(context, { ...evaluation, diagnostics }, routingText(evaluation, styleOf(context)));
};
