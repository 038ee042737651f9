/** The port through which a program keeps runs where it wants, what is kept of one, and a store that lives in memory. */
import { dropOldest } from "@metier/base/turns";
import type { RunSummary } from "./kept-runs.ts";
import type { RunEvent } from "./run-event.ts";
import type { RunState } from "./run-view.ts";

/** What is listed of a kept run: names, numbers and the user, no texts. */
export interface KeptRun extends Omit<RunSummary, "state"> {
  /** `unfinished`: under way, or cut off with its process. `unreadable`: its log cannot be read. */
  readonly status: RunState | "unreadable";
}

/** A kept run with everything that happened in it. */
export interface KeptRunLog extends KeptRun {
  /** The answer, as far as it came. */
  readonly text: string;
  /** In order; secrets were taken out before they were kept. */
  readonly events: readonly RunEvent[];
}

/** Which runs a store is asked for: those that fit everything that is given, the newest first. */
export interface RunQuery {
  /** Of this user. */
  readonly userId?: string | undefined;
  /** Of users of this tenant. */
  readonly tenantId?: string | undefined;
  /** Of this skill; `chat` for turns of a conversation. */
  readonly skill?: string | undefined;
  /** How it ended. */
  readonly status?: KeptRun["status"] | undefined;
  /** That began then or later. */
  readonly since?: Date | undefined;
  /** That began earlier. */
  readonly before?: Date | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
}

/**
 * Where runs are kept: a table, a bucket, a queue. Every function may be async. One that fails or hangs ends no run: the
 * run says `run.sink-failed` and is not kept any further.
 *
 * @example
 * ```ts
 * const store: RunStore = {
 *   put: (run) => database.saveRun(run),
 *   append: (event) => database.saveEvent(event),
 *   list: (query) => database.findRuns(query),
 *   events: (runId) => database.findEvents(runId),
 *   delete: (runIds) => database.deleteRuns(runIds),
 * };
 * const metier = await createMetier({ runs: { store } });
 * ```
 */
export interface RunStore {
  /** What is listed of a run, when it begins and, with the same `runId`, again when it has ended. */
  put(run: KeptRun): unknown;
  /** One event of a run, in order, one at a time for each run; pieces of text are not kept. */
  append(event: RunEvent): unknown;
  /** The runs that fit, the newest first. */
  list(query: RunQuery): readonly KeptRun[] | Promise<readonly KeptRun[]>;
  /** The events of a run in order; none when it is not known. */
  events(runId: string): readonly RunEvent[] | Promise<readonly RunEvent[]>;
  /** Forgets runs with their events; answers with how many there were. */
  delete(runIds: readonly string[]): number | Promise<number>;
}

/** Whether a run fits a query, but for `limit`. */
export function fitsQuery(run: KeptRun, query: RunQuery): boolean {
  const { userId, tenantId, skill, status, since, before } = query;
  const startedAt = Date.parse(run.startedAt);
  return (
    (userId === undefined || run.userId === userId) &&
    (tenantId === undefined || run.tenantId === tenantId) &&
    (skill === undefined || run.skill === skill) &&
    (status === undefined || run.status === status) &&
    (since === undefined || startedAt >= since.getTime()) &&
    (before === undefined || startedAt < before.getTime())
  );
}

/** A server must not grow without end. */
const MOST_IN_MEMORY = 1000;

/** Of this process alone, the newest 1,000 runs. */
export function createMemoryRunStore(most: number = MOST_IN_MEMORY): RunStore {
  const runs = new Map<string, { run: KeptRun; readonly events: RunEvent[] }>();
  return {
    put(run) {
      const known = runs.get(run.runId);
      if (known) known.run = run;
      else runs.set(run.runId, { run, events: [] });
      dropOldest(runs, most);
    },
    append: (event) => void runs.get(event.runId)?.events.push(event),
    list(query) {
      const found = [...runs.values()].map(({ run }) => run).filter((run) => fitsQuery(run, query));
      return found.reverse().slice(0, query.limit);
    },
    events: (runId) => [...(runs.get(runId)?.events ?? [])],
    delete: (runIds) => runIds.filter((runId) => runs.delete(runId)).length,
  };
}
