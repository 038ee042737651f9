/** Merges newer data into a list of runs. Pure. */
import type { ApiRunSummary } from "@metier/service/api";

/** Newest first; of two with the same id, the changed one counts. */
export function mergeRuns(
  known: readonly ApiRunSummary[],
  changed: readonly ApiRunSummary[],
): readonly ApiRunSummary[] {
  if (known.length === 0) return changed;
  const byId = new Map(known.map((run) => [run.id, run]));
  for (const run of changed) byId.set(run.id, run);
  return [...byId.values()].sort((a, b) =>
    a.createdAt === b.createdAt ? compare(b.id, a.id) : compare(b.createdAt, a.createdAt),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
