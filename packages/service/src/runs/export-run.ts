/** What a page needs to show a run without a server: the API's responses to its requests, by path. */
import type { Json, JsonObject } from "@metier/base/json";
import type { DurableRun, JournalStore } from "@metier/durable";
import { openProjection } from "./project-event.ts";
import { showRun } from "./project-run.ts";

/** A run shown in a file: its own responses, and those of the runs it started. */
export interface ExportedRun {
  readonly title: string;
  /** What the page opens, as behind its `#`. */
  readonly address: string;
  readonly answers: Readonly<Record<string, Json>>;
}

interface ExportSource {
  readonly journal: Pick<JournalStore, "get" | "events" | "list">;
  readonly hiddenFolders: readonly (readonly [folder: string, shown: string])[];
}

/** More would make a file that browsers can't open well; the run's log has all of it. */
const MOST_RUNS = 50;
const MOST_EVENTS = 20_000;
const BATCH = 500;

export async function collectRunView(source: ExportSource, run: DurableRun): Promise<ExportedRun> {
  const answers: Record<string, Json> = {};
  const wanted = [run];
  let left = MOST_EVENTS;
  for (const { id } of wanted) {
    // Read again: what has ended in the meantime has its result.
    const current = (await source.journal.get(id)) ?? run;
    const projection = await openProjection(source.journal, id, source.hiddenFolders);
    const events = await readAllEvents(source.journal, id, left);
    left -= events.length;
    const path = `/v1/runs/${encodeURIComponent(id)}`;
    answers[`${path}/events`] = events.map(projection.event);
    answers[path] = await showRun(current, projection, source.journal);
    wanted.push(...(await findChildren(source, run, events, wanted)));
  }
  const name = run.skill ?? "a conversation";
  return { title: `Run of ${name}`, address: `/run/${encodeURIComponent(run.id)}`, answers };
}

type Events = Awaited<ReturnType<JournalStore["events"]>>;

/** In order, from the one behind `after`. */
export async function readAllEvents(
  journal: Pick<JournalStore, "events">,
  id: string,
  most: number,
  after = 0,
): Promise<Events> {
  const events: Events[number][] = [];
  while (events.length < most) {
    const from = events.at(-1)?.seq ?? after;
    const batch = await journal.events(id, from, Math.min(BATCH, most - events.length));
    events.push(...batch);
    if (batch.length === 0) break;
  }
  return events;
}

/** Those of the same run; another run's id in an event leads nowhere. */
async function findChildren(
  { journal }: ExportSource,
  { rootId, tenant }: DurableRun,
  events: Events,
  known: readonly DurableRun[],
): Promise<readonly DurableRun[]> {
  const started = events.flatMap(({ event }) => {
    const { type, childRunId } = (event ?? {}) as JsonObject;
    return type === "child-started" && typeof childRunId === "string" ? [childRunId] : [];
  });
  const fresh = [...new Set(started)].filter((id) => !known.some((run) => run.id === id));
  const found = await Promise.all(fresh.slice(0, MOST_RUNS - known.length).map((id) => journal.get(id)));
  return found.filter((run): run is DurableRun => run?.rootId === rootId && run.tenant === tenant);
}
