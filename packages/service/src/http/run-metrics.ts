/**
 * Metrics of the runs that this process advances, counted from their events: step durations, model usage, how runs end,
 * and sandbox commands. Labels are fixed words.
 */
import type { RunEvent, RunStatus } from "@metier/run/events";
import { countCommands } from "@metier/sandbox";
import { createHistogram, metricLines } from "./metric-text.ts";

export interface RunMetrics {
  /** An event of any run, nested ones included. */
  take(event: RunEvent): void;
  lines(): readonly string[];
}

/** In seconds: a model may think for minutes. */
const STEP_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

const STATUSES: readonly RunStatus[] = ["completed", "limited", "failed", "refused", "cancelled"];

export function createRunMetrics(): RunMetrics {
  const steps = createHistogram("metier_step_seconds", "Duration of run steps.", STEP_BUCKETS);
  const ended = new Map<string, number>(STATUSES.map((status) => [status, 0]));
  const used = { input: 0, output: 0, cost: 0 };
  return {
    take(event) {
      if (event.type === "tool-finished") steps.add('kind="tool"', event.durationMs / 1000);
      if (event.type === "run-finished") ended.set(event.status, (ended.get(event.status) ?? 0) + 1);
      if (event.type !== "model-answered") return;
      steps.add('kind="model"', event.durationMs / 1000);
      used.input += event.usage.inputTokens;
      used.output += event.usage.outputTokens;
      used.cost += event.cost ?? 0;
    },
    lines: () => [
      ...steps.lines(),
      ...counterLines("metier_tokens_total", "Tokens read and written by models.", [
        ['direction="input"', used.input],
        ['direction="output"', used.output],
      ]),
      ...counterLines("metier_cost_total", "Cost of models with a known price.", [["", used.cost]]),
      ...counterLines(
        "metier_runs_ended_total",
        "Runs that ended in this process, including nested runs.",
        [...ended].map(([status, count]) => [`status="${status}"`, count] as const),
      ),
      ...sandboxLines(),
    ],
  };
}

function sandboxLines(): readonly string[] {
  const { started, refused } = countCommands();
  return counterLines("metier_sandbox_starts_total", "Commands started in a sandbox.", [
    ['outcome="started"', started],
    ['outcome="refused"', refused],
  ]);
}

function counterLines(
  name: string,
  about: string,
  values: Iterable<readonly [labels: string, value: number]>,
): readonly string[] {
  return metricLines({ name, about, type: "counter", values });
}
