/** A run that the command line keeps in files, as the data a page needs to show it: the same responses as over HTTP. */
import type { Places } from "@metier/base/places";
import type { DurableRun } from "@metier/durable";
import { collectRunView, type ExportedRun } from "../runs/export-run.ts";
import { type KeptJournal, openKeptJournal } from "./kept-journal.ts";

/** `undefined`: no such run is kept, or its log cannot be read. */
export async function exportKeptRun(
  places: Pick<Places, "home" | "runs">,
  runId: string,
): Promise<ExportedRun | undefined> {
  const kept = openKeptJournal(places);
  const run = kept.get(runId);
  if (run === undefined) return undefined;
  const family = findFamily(kept, run);
  const journal = {
    get: async (id: string) => kept.get(id),
    events: async (id: string, after: number, limit: number) => kept.events(id, after, limit),
    // Those that it started, and not whatever else is kept: that would be read for nothing.
    list: async () => family,
  };
  return collectRunView({ journal, hiddenFolders: [[places.home, "~"]] }, run);
}

const MOST_EVENTS = 100_000;
const MOST_RUNS = 500;

function findFamily(kept: KeptJournal, run: DurableRun): readonly DurableRun[] {
  const family = new Map<string, DurableRun>();
  const wanted = [run.id];
  for (const id of wanted) {
    for (const { event } of kept.events(id, 0, MOST_EVENTS)) {
      const { type, childRunId } = event as { readonly type?: unknown; readonly childRunId?: unknown };
      if (type !== "child-started" || typeof childRunId !== "string" || family.size >= MOST_RUNS) continue;
      const child = family.has(childRunId) ? undefined : kept.get(childRunId);
      if (child === undefined) continue;
      family.set(child.id, child);
      wanted.push(child.id);
    }
  }
  return [...family.values()].toReversed();
}
