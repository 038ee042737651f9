/** The port through which a program keeps runs where it wants, what is kept of a run, and an in-memory store. */
import { dropOldest } from "@metier/base/turns";
import type { RunSummary } from "./kept-runs.ts";
import type { RunEvent } from "./run-event.ts";
import type { RunState } from "./run-view.ts";

/** A kept run in a list: names, numbers and the user, no texts. */
export interface KeptRun extends Omit<RunSummary, "state"> {
  /** `unfinished`: in progress, or interrupted with its process. `unreadable`: its log can't be read. */
  readonly status: RunState | "unreadable";
}

/** A kept run with all its events. */
export interface KeptRunLog extends KeptRun {
  /** The answer so far. */
  readonly text: string;
  /** In order; secrets were removed before they were stored. */
  readonly events: readonly RunEvent[];
}

/** A store query: runs that match every given field, newest first. */
export interface RunQuery {
  /** Of this user. */
  readonly userId?: string | undefined;
  /** Of users of this tenant. */
  readonly tenantId?: string | undefined;
  /** Of this skill; `chat` for turns of a conversation. */
  readonly skill?: string | undefined;
  /** How it ended. */
  readonly status?: KeptRun["status"] | undefined;
  /** Started at or after this time. */
  readonly since?: Date | undefined;
  /** Started before this time. */
  readonly before?: Date | undefined;
  /** At most this many. */
  readonly limit?: number | undefined;
}

/**
 * Where runs are kept: a table, a bucket, a queue. Every function may be async. If one fails or hangs, no run ends:
 * the run reports `run.sink-failed` and is no longer kept.
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
  /** A run's listing, when it starts and, with the same `runId`, again when it has ended. */
  put(run: KeptRun): unknown;
  /** One event of a run, in order, one at a time per run; pieces of text aren't stored. */
  append(event: RunEvent): unknown;
  /** The matching runs, newest first. */
  list(query: RunQuery): readonly KeptRun[] | Promise<readonly KeptRun[]>;
  /** A run's events in order; empty if the run is unknown. */
  events(runId: string): readonly RunEvent[] | Promise<readonly RunEvent[]>;
  /** Deletes runs with their events; returns how many existed. */
  delete(runIds: readonly string[]): number | Promise<number>;
}

/** Whether a run matches a query, ignoring `limit`. */
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

/** A server must not grow without bound. */
const MOST_IN_MEMORY = 1000;

/** Only for this process; keeps the newest 1,000 runs. */
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
