/**
 * Where a host's runs are kept: in files, in the program's store, or nowhere. Only files also keep a run's work folder.
 * A run in progress in this process is never removed.
 */
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { type Logger, openLog, sayFault, type WriteLog } from "@metier/base/diagnostic";
import type { Places } from "@metier/base/places";
import {
  listRunIds,
  removeRuns,
  runsUnderWay,
  summariseEvents,
  summariseRun,
  tidyRuns,
} from "./kept-runs.ts";
import { readRunLog } from "./read-log.ts";
import type { RunEvent } from "./run-event.ts";
import { isRunId, openRunLog, runFolder, runIdTime } from "./run-log.ts";
import type { RunSink } from "./run-recorder.ts";
import { createMemoryRunStore, fitsQuery, type KeptRun, type RunQuery, type RunStore } from "./run-store.ts";

/** Where runs are kept: in files in the home folder, in memory, nowhere, or in the program's store. */
export interface RunsOptions {
  /**
   * `files` (default): in the home folder, with the files left in the work folder. `memory`: the newest 1,000, until
   * the process ends. `none`: nothing is kept. Or the program's own `RunStore`.
   */
  readonly store?: "files" | "memory" | "none" | RunStore | undefined;
  /** How many days they are kept; older ones are removed when a new run starts. Default: 30. */
  readonly keepDays?: number | undefined;
}

export interface RunKeeping {
  /** Whether a run's work folder is kept. */
  readonly keepsFolders: boolean;
  /** `lastSeq`: for a run that continues, the last event that counts. */
  open(runId: string, lastSeq?: number): RunSink;
  /** The newest first. */
  list(query: RunQuery): Promise<readonly KeptRun[]>;
  /** `undefined`: it is not kept. */
  read(runId: string): Promise<readonly RunEvent[] | undefined>;
  /** How many existed and are gone. */
  remove(runIds: readonly string[]): Promise<number>;
  /** At the start of a run: removes what is too old, checked once an hour. */
  tidy(): void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const DEFAULT_DAYS = 30;

type KeepingPlaces = Pick<Places, "runs">;

export function openKeeping(
  places: KeepingPlaces,
  { store = "files", keepDays = DEFAULT_DAYS }: RunsOptions = {},
  logger?: Logger,
): RunKeeping {
  const keptMs = keepDays * DAY_MS;
  if (store === "files") return keepInFiles(places, keptMs, openLog(logger));
  if (store === "none") return keepNothing(places, keptMs);
  const kept = store === "memory" ? createMemoryRunStore() : store;
  return keepInStore(kept, places, keptMs, openLog(logger));
}

function follow(runId: string, sink: RunSink): RunSink {
  runsUnderWay.add(runId);
  return {
    name: sink.name,
    write(event) {
      if (event.type === "run-finished") runsUnderWay.delete(runId);
      sink.write(event);
    },
    async close() {
      runsUnderWay.delete(runId);
      await sink.close?.();
    },
  };
}

function keepInFiles(places: KeepingPlaces, keptMs: number, log: WriteLog): RunKeeping {
  return {
    keepsFolders: true,
    open: (runId, lastSeq) => follow(runId, openRunLog(places, runId, lastSeq)),
    async list(query) {
      const { since, before, limit = Number.POSITIVE_INFINITY } = query;
      const found: KeptRun[] = [];
      for (const [index, runId] of listRunIds(places).entries()) {
        if (found.length >= limit) break;
        const startedAt = runIdTime(runId);
        if (since && startedAt < since.getTime()) break; // All that follow are older.
        if (before && startedAt >= before.getTime()) continue;
        if (index % 200 === 199) await nextTurn(); // Thousands of logs must not block a server.
        const { state: status, ...summary } = summariseRun(places, runId);
        const run = { ...summary, status };
        if (fitsQuery(run, { ...query, since: undefined, before: undefined })) found.push(run);
      }
      return found;
    },
    async read(runId) {
      const reading = readRunLog(runFolder(places, runId).log);
      return reading.ok ? reading.value.events : undefined;
    },
    async remove(runIds) {
      const known = new Set(listRunIds(places));
      const { removed, diagnostics } = removeRuns(
        places,
        runIds.filter((runId) => known.has(runId) && !runsUnderWay.has(runId)),
      );
      for (const { code, message, path } of diagnostics) log("warn", { code, path }, message);
      return removed.length;
    },
    tidy: () => tidyRuns(places, Date.now(), keptMs),
  };
}

/** Still removes folders that a killed process left. */
function keepNothing(places: KeepingPlaces, keptMs: number): RunKeeping {
  return {
    keepsFolders: false,
    open: (runId) => follow(runId, { name: "nothing", write: () => undefined }),
    list: async () => [],
    read: async () => undefined,
    remove: async () => 0,
    tidy: () => tidyRuns(places, Date.now(), keptMs),
  };
}

function keepInStore(store: RunStore, places: KeepingPlaces, keptMs: number, log: WriteLog): RunKeeping {
  let tidiedAt = 0;
  const remove: RunKeeping["remove"] = async (runIds) => {
    const idle = runIds.filter((runId) => !runsUnderWay.has(runId));
    return idle.length === 0 ? 0 : store.delete(idle);
  };
  /** Checked against the query: what is listed may be deleted, and a store can have bugs. */
  const list: RunKeeping["list"] = async (query) => {
    const found = await store.list(query);
    return found.filter((run) => fitsQuery(run, query)).slice(0, query.limit);
  };
  const removeOld = async (now: number): Promise<void> => {
    const old = await list({ before: new Date(now - keptMs) });
    await remove(old.map(({ runId }) => runId));
  };
  return {
    keepsFolders: false,
    open: (runId, lastSeq) => follow(runId, openStoreSink(store, runId, lastSeq)),
    list,
    async read(runId) {
      const events = await store.events(runId);
      return events.length === 0 ? undefined : events;
    },
    remove,
    tidy() {
      const now = Date.now();
      tidyRuns(places, Date.now(), keptMs);
      if (now - tidiedAt < HOUR_MS) return;
      tidiedAt = now;
      removeOld(now).catch((fault: unknown) =>
        log(
          "warn",
          { code: "run.not-removed", err: fault },
          `Old runs could not be removed: ${sayFault(fault)}`,
        ),
      );
    },
  };
}

/** How long a run that has ended waits for its store to take the last events. */
const STORE_GRACE_MS = 10_000;

/** One call after another, in event order; the run itself doesn't wait. */
function openStoreSink(store: RunStore, runId: string, lastSeq = 0): RunSink {
  let last: Promise<unknown> = Promise.resolve();
  let failed: { readonly fault: unknown } | undefined;
  let first: RunEvent | undefined;
  const enqueue = (work: () => unknown): void => {
    last = last.then(async () => {
      if (failed) return;
      try {
        await work();
      } catch (fault) {
        failed = { fault };
      }
    });
  };
  // A run that continues started in another process, which told the store.
  if (lastSeq > 0) {
    enqueue(async () => {
      [first] = await store.events(runId);
    });
  }
  const keep = (event: RunEvent): unknown => first && store.put(toKept(first, event));
  return {
    name: "store",
    write(event) {
      if (failed) throw failed.fault;
      if (event.type === "text-delta") return;
      if (lastSeq === 0 && first === undefined) {
        first = event;
        enqueue(() => store.put(toKept(event)));
      }
      enqueue(() => store.append(event));
      if (event.type === "run-finished") enqueue(() => keep(event));
    },
    async close() {
      const timer = new AbortController();
      const late = wait(STORE_GRACE_MS, "late", timer).catch(() => undefined); // It was in time.
      const ended = await Promise.race([last, late]);
      timer.abort();
      if (failed) throw failed.fault;
      if (ended === "late")
        throw new Error(`it did not take the last events within ${STORE_GRACE_MS / 1000} s`);
    },
  };
}

function toKept(first: RunEvent, last?: RunEvent): KeptRun {
  const { state: status, ...summary } = summariseEvents(first.runId, first, last);
  return { ...summary, status };
}

/** An id from outside leads to a run, or to nothing. */
export function readRunId(runId: unknown): string | undefined {
  return typeof runId === "string" && isRunId(runId) ? runId : undefined;
}
