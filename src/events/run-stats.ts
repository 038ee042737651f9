/** How skills are used, counted from the runs that are kept. */
import { compareText } from "../foundation/diagnostic.ts";
import type { RunSummary } from "./list-runs.ts";
import type { TokenUsage } from "./run-event.ts";
import type { RunState } from "./run-view.ts";

export type RunCounts = Readonly<Record<RunState, number>>;

export interface SkillStats extends RunCounts {
  readonly skill: string;
  readonly runs: number;
  readonly iterations: number;
  readonly usage: TokenUsage;
  /** Absent: none. */
  readonly capabilityCalls?: number;
  /** Of the runs that came to an end; absent when none did. */
  readonly durationMs?: { readonly median: number; readonly p95: number };
  readonly lastStartedAt: string;
}

/** The most used first. Runs whose log does not name a skill are left out. */
export function countRuns(runs: readonly RunSummary[]): readonly SkillStats[] {
  const named = runs.filter(({ state, skill }) => state !== "unreadable" && skill !== "");
  return [...Map.groupBy(named, ({ skill }) => skill)]
    .map(([skill, own]) => countSkill(skill, own))
    .sort((a, b) => b.runs - a.runs || compareText(a.skill, b.skill));
}

function countSkill(skill: string, runs: readonly RunSummary[]): SkillStats {
  const count = (state: RunState): number => runs.filter((run) => run.state === state).length;
  const sum = (of: (run: RunSummary) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const capabilityCalls = sum((run) => run.capabilityCalls ?? 0);
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  return {
    skill,
    runs: runs.length,
    completed: count("completed"),
    limited: count("limited"),
    failed: count("failed"),
    refused: count("refused"),
    cancelled: count("cancelled"),
    unfinished: count("unfinished"),
    iterations: sum((run) => run.iterations),
    usage: {
      inputTokens: sum(({ usage }) => usage.inputTokens),
      outputTokens: sum(({ usage }) => usage.outputTokens),
      totalTokens: sum(({ usage }) => usage.totalTokens),
    },
    ...(capabilityCalls > 0 && { capabilityCalls }),
    ...(durations.length > 0 && {
      durationMs: { median: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
    }),
    lastStartedAt:
      runs
        .map(({ startedAt }) => startedAt)
        .sort(compareText)
        .at(-1) ?? "",
  };
}

/** The smallest value that at least this share of all does not exceed. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
