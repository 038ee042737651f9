/** Runs for people: a list, one run step by step, or usage by skill. */
import { safeLine, safeText, showCost } from "@metier/base/text";
import type {
  CapabilityUse,
  HookView,
  RunState,
  RunSummary,
  RunView,
  SkillStats,
  StepView,
  ToolCallView,
} from "@metier/run/events";
import { capabilityCallText, reachText } from "./run-progress.ts";
import { alignColumns, count, cutText, labelled, type Style } from "./style.ts";

const INPUT_WIDTH = 100;
const OUTPUT_WIDTH = 120;
const MOST_OUTPUT_LINES = 3;

const STATE_COLOURS: Readonly<Record<RunState | "unreadable", "green" | "yellow" | "red" | "dim">> = {
  completed: "green",
  limited: "yellow",
  refused: "yellow",
  cancelled: "yellow",
  failed: "red",
  unreadable: "red",
  unfinished: "dim",
};

const CALL_SYMBOLS: Readonly<Record<ToolCallView["state"], string>> = {
  done: "✓",
  failed: "✗",
  denied: "○",
  running: "·",
};

/** `states`: the state of each unfinished durable run, by id. */
export function runsText(
  runs: readonly RunSummary[],
  style: Style,
  states: ReadonlyMap<string, string> = new Map(),
): string {
  const hasCost = runs.some(({ cost }) => cost !== undefined);
  const rows = runs.map((run) => [
    run.runId,
    showTime(run.startedAt),
    states.get(run.runId) ?? run.state,
    cutText(run.skill || "unknown", 32),
    count(run.iterations, "step"),
    count(run.usage.totalTokens, "token"),
    ...(hasCost ? [costText(run.cost)] : []),
    run.durationMs === undefined ? "" : showDuration(run.durationMs),
  ]);
  return alignColumns(rows, hasCost ? [4, 5, 6, 7] : [4, 5, 6])
    .map((cells, index) => {
      const [id = "", time = "", state = "", skill = "", ...numbers] = cells;
      const colour = STATE_COLOURS[runs[index]?.state ?? "unfinished"];
      return [id, style.dim(time), style[colour](state), style.bold(skill), ...numbers].join("  ").trimEnd();
    })
    .join("\n");
}

export function statsText(skills: readonly SkillStats[], style: Style): string {
  const hasCost = skills.some(({ cost }) => cost !== undefined);
  const rows = skills.map((stats) => [
    cutText(stats.skill, 32),
    count(stats.runs, "run"),
    ENDINGS.filter((state) => stats[state] > 0)
      .map((state) => `${stats[state]} ${state}`)
      .join(", "),
    count(stats.iterations, "step"),
    count(stats.usage.totalTokens, "token"),
    ...(hasCost ? [costText(stats.cost)] : []),
    stats.durationMs
      ? `median ${showDuration(stats.durationMs.median)}, 95 % within ${showDuration(stats.durationMs.p95)}`
      : "",
    stats.capabilityCalls ? count(stats.capabilityCalls, "capability call") : "",
  ]);
  return alignColumns(rows, hasCost ? [1, 3, 4, 5] : [1, 3, 4])
    .map(([skill = "", ...rest]) => [style.bold(skill), ...rest].join("  ").trimEnd())
    .join("\n");
}

const ENDINGS: readonly RunState[] = ["completed", "limited", "failed", "refused", "cancelled", "unfinished"];

export function runText(view: RunView, style: Style): string {
  const { usage } = view;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["state", endingText(view)],
    ["started", `${showTime(view.startedAt)}${view.source ? ` by ${view.source}` : ""}`],
    ["took", view.durationMs === undefined ? undefined : showDuration(view.durationMs)],
    ["model", view.model],
    ["tokens", `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ["cost", costText(view.cost)],
    ["trust", view.trust],
    ["skill file", view.location],
    ["started by", view.parentRunId && `run ${view.parentRunId}`],
    ["folder", view.cwd],
    ["work folder", view.workDir],
    ["tools", view.tools.join(", ")],
    ["variables", view.env.join(", ")],
    ...sandboxRows(view),
    ["capabilities", (view.capabilities ?? []).map(useText).join(", ")],
    ...view.children.map(({ runId, skill }) => ["started", `${skill} as run ${runId}`] as const),
    ...view.diagnostics.map(({ code, message }) => ["note", `${message} (${code})`] as const),
  ];
  return [
    `${style.bold(safeLine(view.skill || "unknown"))}  ${view.runId}`,
    labelled(
      facts.filter(([, value]) => value),
      style,
    ),
    ...view.steps.map((step) => stepText(step, style)),
    ...(view.text ? [`${style.bold("Answer")}\n${indent(safeText(view.text))}`] : []),
  ].join("\n\n");
}

/** Empty if no price is known. */
function costText(cost: number | undefined): string {
  return cost === undefined ? "" : showCost(cost);
}

function endingText({ state, limit, error }: RunView): string {
  if (error) return `${state}: ${error.message} (${error.code})`;
  if (limit) return `${state} by ${limit.limit}${limit.message ? `: ${limit.message}` : ""}`;
  return state === "unfinished" ? "unfinished: still running, or ended from outside" : state;
}

function stepText(
  { step, text, calls, hooks = [], capabilities = [], retries, usage, cost, durationMs }: StepView,
  style: Style,
): string {
  const facts = [
    ...(usage ? [count(usage.totalTokens, "token")] : []),
    ...(cost === undefined ? [] : [showCost(cost)]),
    ...(durationMs === undefined ? [] : [showDuration(durationMs)]),
  ].join(", ");
  return [
    `${style.bold(`Step ${step}`)}${facts && `  ${style.dim(facts)}`}`,
    ...retries.map(
      ({ attempt, reason }) => `  ${style.yellow(`retry ${attempt}: ${cutText(reason, OUTPUT_WIDTH)}`)}`,
    ),
    ...(text ? [indent(safeText(text))] : []),
    ...calls.map((call) => callText(call, style)),
    ...hooks.map((hook) => `  ${hookText(hook, style)}`),
    ...capabilities.map(
      (call) => `  ${capabilityCallText(call, style)}  ${style.dim(showDuration(call.durationMs))}`,
    ),
  ].join("\n");
}

function hookText({ hook, tool, outcome, reason, durationMs }: HookView, style: Style): string {
  const colour = outcome === "allow" ? "dim" : "yellow";
  const about = tool === undefined ? "" : ` on ${safeLine(tool)}`;
  const why = reason === undefined ? "" : `: ${cutText(reason, OUTPUT_WIDTH)}`;
  return `${style[colour](`${safeLine(hook)} hook${about}: ${outcome}${why}`)}  ${style.dim(showDuration(durationMs))}`;
}

/** What a skill asked for, was granted and used; empty if none. */
function sandboxRows({ sandbox }: RunView): readonly (readonly [string, string])[] {
  if (sandbox === undefined) return [];
  const { backend, declared, granted, used } = sandbox;
  return [
    ["sandbox", backend],
    ["declared", reachText(declared)],
    ["granted", reachText(granted)],
    ["used", reachText(used)],
  ];
}

function useText({ capability, operation, calls, failed }: CapabilityUse): string {
  return `${[capability, operation].join(" ").trim()} ${calls}×${failed > 0 ? ` (${failed} not performed)` : ""}`;
}

function callText(call: ToolCallView, style: Style): string {
  const { tool, input, state, rule, text, durationMs } = call;
  const colour = state === "done" ? "green" : state === "failed" ? "red" : "yellow";
  const time = durationMs === undefined ? "" : `  ${style.dim(showDuration(durationMs))}`;
  const head = `  ${style[colour](CALL_SYMBOLS[state])} ${style.bold(safeLine(tool))} ${cutText(JSON.stringify(input), INPUT_WIDTH)}${time}`;
  const lines = (text ?? "").split("\n").filter((line) => line.trim() !== "");
  const more = lines.length - MOST_OUTPUT_LINES;
  return [
    head,
    ...(state === "denied" ? [`      ${style.yellow(`denied: ${cutText(rule, OUTPUT_WIDTH)}`)}`] : []),
    ...lines.slice(0, MOST_OUTPUT_LINES).map((line) => `      ${style.dim(cutText(line, OUTPUT_WIDTH))}`),
    ...(more > 0 ? [`      ${style.dim(`… ${count(more, "more line")}`)}`] : []),
  ].join("\n");
}

/** `350 ms`, `12.3 s`, `2 min 5 s` */
function showDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** To the second and in UTC, so that the same log reads the same everywhere. */
function showTime(at: string): string {
  return safeLine(at.replace("T", " ").replace(/\.\d+Z$/, "Z"));
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
