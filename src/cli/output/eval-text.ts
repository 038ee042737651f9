/** What an evaluation found, for people. */
import { join } from "node:path";
import type { ArmName } from "../../evals/arms.ts";
import type { ArmSummary } from "../../evals/benchmark.ts";
import type { EvalProgress, Evaluation } from "../../evals/evaluation.ts";
import type { Routing, RoutingEvaluation } from "../../evals/routing/evaluate-routing.ts";
import type { QueryResult, TriggerEvaluation } from "../../evals/triggers/evaluate-triggers.ts";
import { count, cutText, type Style, safeLine } from "./style.ts";

const MOST_PAIRS = 20;

export function evalProgressText(progress: EvalProgress, style: Style): string {
  const { eval: name, arm, run, done, total, passed, assertions, seconds, tokens, fault } = progress;
  const mark =
    fault !== undefined ? style.red("✗") : passed === assertions ? style.green("✓") : style.yellow("·");
  const result =
    fault === undefined
      ? `${passed} of ${assertions}, ${seconds.toFixed(1)} s, ${tokens} tokens`
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
  { benchmark, iteration, errors }: Evaluation,
  least: number | undefined,
  style: Style,
): string {
  const { delta, ...arms } = benchmark.run_summary;
  const rows = (Object.entries(arms) as readonly (readonly [ArmName, ArmSummary])[]).map(
    ([arm, { pass_rate, time_seconds, tokens }]) =>
      `  ${arm.padEnd(14)} ${percent(pass_rate.mean).padStart(6)} ± ${percent(pass_rate.stddev).padEnd(6)} ${time_seconds.mean.toFixed(1).padStart(8)} s ${String(Math.round(tokens.mean)).padStart(9)} tokens`,
  );
  const difference = delta && [
    `  ${"difference".padEnd(14)} ${signed(delta.pass_rate * 100, 0).padStart(6)} points${signed(delta.time_seconds, 1).padStart(9)} s ${signed(delta.tokens, 0).padStart(9)} tokens`,
  ];
  const rate = arms.with_skill?.pass_rate.mean ?? 0;
  const verdict =
    least !== undefined && rate < least
      ? [style.red(`  The pass rate ${percent(rate)} is below ${percent(least)}.`)]
      : [];
  return [
    style.bold(safeLine(name)),
    ...rows,
    ...(difference ?? []),
    ...benchmark.notes.map((note) => style.dim(`  ${cutText(note, 160)}`)),
    ...(errors > 0 ? [style.red(`  ${count(errors, "error")}: ${firstNote(benchmark.runs)}`)] : []),
    ...verdict,
    `  ${safeLine(join(iteration.path, "report.html"))}`,
  ].join("\n");
}

function firstNote(runs: Evaluation["benchmark"]["runs"]): string {
  const failed = runs.find(({ result }) => result.errors > 0);
  return cutText(failed?.notes[0] ?? failed?.expectations.find(({ passed }) => !passed)?.evidence ?? "", 200);
}

export function triggersText(evaluation: TriggerEvaluation, folder: string, style: Style): string {
  const { skill_name, summary, queries } = evaluation;
  const sets = (["train", "validation", "all"] as const).map((set) => {
    const { passed, total, pass_rate } = summary[set];
    return `  ${set.padEnd(11)} ${passed} of ${total} (${percent(pass_rate)})`;
  });
  return [
    style.bold(safeLine(skill_name)),
    ...queries.map((query) => queryText(query, style)),
    ...sets,
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
    `${count(skills, "skill")}, ${count(pairs.length, "pair")} that can be mistaken for each other by their descriptions.`,
    ...shown,
    ...(left > 0 ? [`  and ${left} more; \`--json\` has all.`] : []),
    ...(search ? routedText("By words alone", search, style) : []),
    ...(model ? routedText(`By ${safeLine(model.name)}`, model, style) : []),
    ...errors.slice(0, 3).map((fault) => style.red(`  ${cutText(fault, 160)}`)),
  ].join("\n");
}

function routedText(
  title: string,
  { passed, total, pass_rate, confusions }: Routing,
  style: Style,
): readonly string[] {
  return [
    `${title}: ${passed} of ${total} queries go right (${percent(pass_rate)}).`,
    ...confusions
      .slice(0, MOST_PAIRS)
      .map(({ expected, chosen, count: times }) =>
        style.dim(`  ${times}×  ${safeLine(expected)} → ${safeLine(chosen)}`),
      ),
  ];
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}

function signed(value: number, digits: number): string {
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
}
