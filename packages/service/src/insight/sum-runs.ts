/** Numbers about runs over time and by skill: counts, failures, usage and duration. Pure. */
import { isJsonObject } from "@metier/base/json";
import { compareText } from "@metier/base/text";
import { type DurableRun, ENDED } from "@metier/durable";
import type { ApiDayStatistics, ApiSkillStatistics, ApiStatistics } from "../api.ts";

type Numbers = Omit<ApiDayStatistics, "day">;

const FAILED: ReadonlySet<string> = new Set(["failed", "refused", "limited"]);
const DAY_MS = 86_400_000;
const MOST_SKILLS = 1_000;

interface Sum {
  runs: number;
  failed: number;
  tokens: number;
  cost: number;
  readonly times: number[];
}

interface RunSums {
  /** A root run counts what it started, too. */
  add(run: DurableRun): void;
  /** From the day of `from` to the day before `to`; a day without runs is there, too. */
  finish(from: number, to: number, usable: readonly string[]): ApiStatistics;
}

export function sumRuns(): RunSums {
  const days = new Map<string, Sum>();
  const skills = new Map<string, Sum>();
  const used = new Set<string>();
  return {
    add(run) {
      if (run.skill !== undefined) used.add(run.skill);
      if (run.parentId !== undefined) return;
      addTo(days, dayOf(run.createdAt), run);
      if (run.skill !== undefined) addTo(skills, run.skill, run);
    },
    finish(from, to, usable) {
      const bySkill = [...skills].map(([skill, sum]): ApiSkillStatistics => ({ skill, ...toNumbers(sum) }));
      return {
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        days: listDays(from, to).map((day) => ({ day, ...toNumbers(days.get(day) ?? emptySum()) })),
        skills: bySkill
          .sort((a, b) => b.runs - a.runs || compareText(a.skill, b.skill))
          .slice(0, MOST_SKILLS),
        neverUsed: usable.filter((name) => !used.has(name)),
      };
    },
  };
}

function addTo(sums: Map<string, Sum>, key: string, { result, status, activeMs }: DurableRun): void {
  const sum = sums.get(key) ?? emptySum();
  sums.set(key, sum);
  const { usage, cost } = isJsonObject(result) ? result : {};
  const tokens = isJsonObject(usage) ? usage.totalTokens : undefined;
  sum.runs += 1;
  if (FAILED.has(status)) sum.failed += 1;
  if (typeof tokens === "number") sum.tokens += tokens;
  if (typeof cost === "number") sum.cost += cost;
  if (ENDED.has(status)) sum.times.push(activeMs);
}

function emptySum(): Sum {
  return { runs: 0, failed: 0, tokens: 0, cost: 0, times: [] };
}

function toNumbers({ times, ...counts }: Sum): Numbers {
  const sorted = times.toSorted((a, b) => a - b);
  return { ...counts, medianMs: quantile(sorted, 0.5), p95Ms: quantile(sorted, 0.95) };
}

/** The smallest value that this share of them does not exceed; 0 of nothing. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function listDays(from: number, to: number): readonly string[] {
  const first = Math.floor(from / DAY_MS);
  const last = Math.max(first, Math.ceil(to / DAY_MS) - 1);
  return Array.from({ length: last - first + 1 }, (_, offset) => dayOf((first + offset) * DAY_MS));
}
