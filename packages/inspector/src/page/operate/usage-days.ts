/** Adds the days without runs, which belong in a plot, too. Pure. */
import type { ApiUsageSum } from "@metier/service/api";

const DAY_MS = 86_400_000;
const MOST_DAYS = 400;

/** From the first day with a run to the last; days are UTC. */
export function fillDays(sums: readonly ApiUsageSum[]): readonly ApiUsageSum[] {
  const byDay = new Map(sums.map((sum) => [sum.key, sum]));
  const days = [...byDay.keys()].sort();
  const [first, last] = [Date.parse(days[0] ?? ""), Date.parse(days.at(-1) ?? "")];
  const count = (last - first) / DAY_MS + 1;
  if (!(count <= MOST_DAYS)) return days.flatMap((day) => byDay.get(day) ?? []);
  return Array.from({ length: count }, (_, index) => {
    const key = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return byDay.get(key) ?? { ...NOTHING, key };
  });
}

const NOTHING = {
  runs: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cost: 0,
  runsWithoutCost: 0,
  activeMs: 0,
};
