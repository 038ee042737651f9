/** Evaluation results for people. */
import { join } from "node:path";
import { safeLine, showCost } from "@metier/base/text";
import type {
  ArmName,
  ArmSummary,
  EvalProgress,
  Evaluation,
  IterationComparison,
  QueryResult,
  Routing,
  RoutingEvaluation,
  TriggerEvaluation,
} from "@metier/evals";
import { count, cutText, type Style } from "./style.ts";

const MOST_PAIRS = 20;

export function evalProgressText(progress: EvalProgress, style: Style): string {
  const { eval: name, arm, run, done, total, passed, assertions, seconds, tokens, cost, fault } = progress;
  const { ungraded, replayed } = progress;
  const isRight = passed === assertions && ungraded === 0;
  const mark = fault !== undefined ? style.red("✗") : isRight ? style.green("✓") : style.yellow("·");
  const time = `${seconds.toFixed(1)} s${replayed ? " when recorded" : ""}`;
  const missing = ungraded === 0 ? "" : `, ${ungraded} not graded`;
  const result =
    fault === undefined
      ? `${passed} of ${assertions}${missing}, ${time}, ${count(tokens, "token")}${costText(cost)}`
      : cutText(fault, 120);
  return `${style.dim(`[${done}/${total}]`)} ${mark} ${safeLine(name)}, ${arm}, run ${run}: ${result}`;
}

export function queryProgressText(
  { done, total, query }: { readonly done: number; readonly total: number; readonly query: string },
  style: Style,
): string {
  return `${style.dim(`[${done}/${total}]`)} ${cutText(query, 90)}`;
}

export function evalText(
  name: string,
  { benchmark, iteration }: Evaluation,
  least: number | undefined,
  style: Style,
): string {
  const { delta, ...arms } = benchmark.run_summary;
  const rows = (Object.entries(arms) as readonly (readonly [ArmName, ArmSummary])[]).map(
    ([arm, { pass_rate, time_seconds, tokens, cost }]) => {
      const isGraded = benchmark.runs.some((run) => run.configuration === arm && run.result.total > 0);
      const [mean, spread] = isGraded
        ? [percent(pass_rate.mean), `± ${percent(pass_rate.stddev)}`]
        : ["–", ""];
      return `  ${arm.padEnd(14)} ${mean.padStart(6)} ${spread.padEnd(8)} ${time_seconds.mean.toFixed(1).padStart(8)} s ${String(Math.round(tokens.mean)).padStart(9)} tokens${costText(cost?.mean)}`;
    },
  );
  const difference = delta && [
    `  ${"difference".padEnd(14)} ${signed(delta.pass_rate * 100, 0).padStart(6)} points${signed(delta.time_seconds, 1).padStart(9)} s ${signed(delta.tokens, 0).padStart(9)} tokens`,
  ];
  const rate = arms.with_skill?.pass_rate.mean ?? 0;
  const isBelow = least !== undefined && rate < least;
  const verdict = isBelow ? [style.red(`  The pass rate ${percent(rate)} is below ${percent(least)}.`)] : [];
  return [
    style.bold(safeLine(name)),
    ...rows,
    ...(difference ?? []),
    ...(benchmark.metadata.replayed ? [style.dim("  Times are those of the recording.")] : []),
    ...(benchmark.previous ? [comparisonText(benchmark.previous)] : []),
    ...benchmark.notes.map((note) => style.dim(`  ${cutText(note, 160)}`)),
    ...faultLines(benchmark.runs).map((line) => style.red(`  ${line}`)),
    ...verdict,
    `  ${safeLine(join(iteration.path, "report.html"))}`,
  ].join("\n");
}

/** Failed runs and ungraded assertions, each kind with its first reason. */
function faultLines(runs: Evaluation["benchmark"]["runs"]): readonly string[] {
  const failed = runs.filter(
    ({ result, notes }) => result.errors > 0 && result.total === 0 && notes.length > 0,
  );
  const ungraded = runs
    .filter((run) => !failed.includes(run))
    .flatMap(({ expectations }) => expectations.filter((expectation) => expectation.ungraded));
  const lines = [
    [failed.length, count(failed.length, "run"), "failed", failed[0]?.notes[0]],
    [ungraded.length, count(ungraded.length, "assertion"), "not graded", ungraded[0]?.evidence],
  ] as const;
  return lines
    .filter(([number]) => number > 0)
    .map(([, what, verdict, reason = ""]) => `${what} ${verdict} (not counted): ${cutText(reason, 200)}`);
}

function comparisonText(previous: IterationComparison): string {
  const { iteration, pass_rate, changed, same_skill, same_model } = previous;
  const points = signed((pass_rate.after - pass_rate.before) * 100, 0);
  const list = (isBetter: boolean): string =>
    changed
      .filter(({ before, after }) => after > before === isBetter)
      .map(({ eval_name }) => safeLine(eval_name))
      .join(", ");
  const [better, worse] = [list(true), list(false)];
  return [
    `  since iteration ${iteration}: ${percent(pass_rate.before)} → ${percent(pass_rate.after)} (${points} points)`,
    ...(better === "" ? [] : [`better: ${better}`]),
    ...(worse === "" ? [] : [`worse: ${worse}`]),
    ...(same_skill ? ["same skill, so differences are chance"] : []),
    ...(same_model ? [] : ["another model"]),
  ].join("; ");
}

export function triggersText(evaluation: TriggerEvaluation, folder: string, style: Style): string {
  const { skill_name, summary, queries, used } = evaluation;
  const sets = (["train", "validation", "all"] as const).map((set) => {
    const { passed, total, pass_rate } = summary[set];
    return `  ${set.padEnd(11)} ${passed} of ${total} (${percent(pass_rate)})`;
  });
  return [
    style.bold(safeLine(skill_name)),
    ...queries.map((query) => queryText(query, style)),
    ...sets,
    ...(used.tokens > 0 ? [`  ${usedText(used)}`] : []),
    `  ${safeLine(join(folder, "report.html"))}`,
  ].join("\n");
}

function queryText(
  { query, should_trigger, trigger_rate, passed, instead, errors }: QueryResult,
  style: Style,
): string {
  const mark = passed ? style.green("✓") : style.red("✗");
  const others = Object.entries(instead).map(([name, times]) => `${safeLine(name)} ${times}×`);
  const note = others.length > 0 ? style.dim(`  instead: ${others.join(", ")}`) : "";
  const fault = errors[0] === undefined ? "" : style.red(`  ${cutText(errors[0], 100)}`);
  const wanted = should_trigger ? "should" : "should not";
  return `  ${mark} ${percent(trigger_rate).padStart(5)}  ${wanted.padEnd(10)}  ${cutText(query, 80)}${note}${fault}`;
}

export function routingText(
  { skills, descriptions, search, model, errors }: RoutingEvaluation,
  style: Style,
): string {
  const { pairs } = descriptions;
  const shown = pairs
    .slice(0, MOST_PAIRS)
    .flatMap(({ skills: names, verdict, confusion, suggestion }) => [
      `  ${style.yellow(confusion.toFixed(2))}  ${style.bold(safeLine(names.join(" ~ ")))}  ${verdict}`,
      `        ${style.dim(safeLine(suggestion))}`,
    ]);
  const left = pairs.length - MOST_PAIRS;
  return [
    `${count(skills, "skill")}, ${count(pairs.length, "pair")} with descriptions that can be mistaken for each other.`,
    ...shown,
    ...(left > 0 ? [`  and ${left} more; \`--json\` prints all.`] : []),
    ...(search ? routedText("By words alone", search, style) : []),
    ...(model ? routedText(`By ${safeLine(model.name)}`, model, style) : []),
    ...(model && model.used.tokens > 0 ? [usedText(model.used)] : []),
    ...errors.slice(0, 3).map((fault) => style.red(`  ${cutText(fault, 160)}`)),
  ].join("\n");
}

function routedText(
  title: string,
  { passed, total, pass_rate, confusions }: Routing,
  style: Style,
): readonly string[] {
  return [
    `${title}: ${passed} of ${total} queries are routed correctly (${percent(pass_rate)}).`,
    ...confusions
      .slice(0, MOST_PAIRS)
      .map(({ expected, chosen, count: times }) =>
        style.dim(`  ${times}×  ${safeLine(expected)} → ${safeLine(chosen)}`),
      ),
  ];
}

export function usedText({ tokens, cost }: TriggerEvaluation["used"]): string {
  return `${count(tokens, "token")}${costText(cost)}`;
}

/** Empty if no price is known. */
function costText(cost: number | undefined): string {
  return cost === undefined ? "" : `, ${showCost(cost)}`;
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}

/** Rounded first, to avoid `-0.0`. */
function signed(value: number, digits: number): string {
  const rounded = Number(value.toFixed(digits)) || 0;
  return `${rounded > 0 ? "+" : ""}${rounded.toFixed(digits)}`;
}
