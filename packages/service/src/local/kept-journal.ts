/**
 * The runs that the command line keeps in files, as a read-only journal. A run that has ended is read once; one in
 * progress in another process is read again each time.
 */
import { statSync } from "node:fs";
import { type JsonObject, presentFields } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import { type DurableRun, type DurableRunFilter, ENDED, type JournalEvent } from "@metier/durable";
import { listRunIds, type RunEvent, readLogEnds, readRunId, runFolder, runIdTime } from "@metier/run/events";
import { markAsSeen } from "../runs/seen-runs.ts";
import { openLogFollower } from "./follow-log.ts";

export interface KeptJournal {
  get(runId: string): DurableRun | undefined;
  /** Newest first, one after the other; those before this id. */
  list(filter: Omit<DurableRunFilter, "limit" | "tenant">): Iterable<DurableRun>;
  events(runId: string, after: number, limit: number): readonly JournalEvent[];
}

/** A log that is silent for this long without an end belongs to a process that was ended. */
const SILENT_MS = 15 * 60_000;
const MOST_PARENTS = 100;

type Started = Extract<RunEvent, { type: "run-started" }>;
type Finished = Extract<RunEvent, { type: "run-finished" }>;

export function openKeptJournal(places: Pick<Places, "runs">, now: () => number = Date.now): KeptJournal {
  const ended = new Map<string, DurableRun>();
  const logs = openLogFollower();
  const listIds = rememberIds(places);
  const get: KeptJournal["get"] = (runId) => {
    if (readRunId(runId) === undefined) return undefined;
    const { log } = runFolder(places, runId);
    const written = statSync(log, { throwIfNoEntry: false });
    if (written === undefined) {
      ended.delete(runId);
      return undefined;
    }
    const known = ended.get(runId);
    if (known !== undefined) return known;
    const { first, last } = readLogEnds(log) ?? {};
    if (first?.type !== "run-started") return undefined;
    const isSilent = now() - written.mtimeMs > SILENT_MS;
    const run = describe(runId, first, last ?? first, { rootId: rootOf(first), isSilent });
    if (last?.type === "run-finished") ended.set(runId, run);
    return run;
  };
  const rootOf = (run: Started): string => {
    let current = run;
    for (let count = 0; current.parentRunId !== undefined && count < MOST_PARENTS; count += 1) {
      if (readRunId(current.parentRunId) === undefined) break;
      const { first } = readLogEnds(runFolder(places, current.parentRunId).log) ?? {};
      if (first?.type !== "run-started") return current.parentRunId;
      current = first;
    }
    return current.runId;
  };
  return {
    get,
    *list(filter) {
      for (const runId of listIds()) {
        if (filter.before !== undefined && runId >= filter.before) continue;
        if (filter.rootId !== undefined && runId < filter.rootId) return; // Runs that it started are younger.
        const run = ended.get(runId) ?? get(runId);
        if (run !== undefined && fits(run, filter)) yield run;
      }
    },
    events(runId, after, limit) {
      if (readRunId(runId) === undefined) return [];
      const events = logs.events(runFolder(places, runId).log);
      const from = events.findIndex(({ seq }) => seq > after);
      const wanted = from === -1 ? [] : events.slice(from, from + limit);
      return wanted.map((event) => ({ seq: event.seq, event: event as unknown as JsonObject }));
    },
  };
}

/** A folder's time shows each run that comes or goes, but not two in the same moment. */
const MOMENT_MS = 1_000;

/** Paging through thousands of runs lists their folder once. */
function rememberIds(places: Pick<Places, "runs">): () => readonly string[] {
  let known: { readonly ids: readonly string[]; readonly changedAt: number } | undefined;
  return () => {
    const changedAt = statSync(places.runs, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (known?.changedAt === changedAt) return known.ids;
    const ids = listRunIds(places);
    known = Date.now() - changedAt > MOMENT_MS ? { ids, changedAt } : undefined;
    return ids;
  };
}

/** Anyone may have written to a log file: an invalid time in it isn't shown. */
function readTime(text: string, otherwise: number): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? otherwise : time;
}

interface KeptFacts {
  readonly rootId: string;
  readonly isSilent: boolean;
}

function describe(
  runId: string,
  first: Started,
  last: RunEvent,
  { rootId, isSilent }: KeptFacts,
): DurableRun {
  const finished = last.type === "run-finished" ? last : undefined;
  const status = finished?.status ?? (isSilent ? "failed" : "running");
  const createdAt = readTime(first.at, runIdTime(runId));
  const updatedAt = readTime(last.at, createdAt);
  return markAsSeen({
    id: first.runId,
    tenant: "",
    userId: first.userId,
    skill: first.skill,
    parentId: first.parentRunId,
    order: {},
    rootId,
    status,
    createdAt,
    updatedAt,
    activeMs: finished?.durationMs ?? updatedAt - createdAt,
    lastEvent: last.seq,
    isCancelled: false,
    result: ENDED.has(status) ? describeResult(first, finished) : undefined,
  });
}

const CUT_OFF = {
  code: "run.cut-off",
  message: "The log is incomplete: the process ended before the run did.",
};

/** As far as the log says. */
function describeResult(
  { model, trust, skill, runId }: Started,
  finished: Finished | undefined,
): DurableRun["result"] {
  if (finished === undefined) return { runId, skill, model, trust, text: "", error: CUT_OFF };
  const { text, iterations, usage, cost, durationMs, limit, error, sandbox, capabilities } = finished;
  const told = { text, iterations, usage, cost, durationMs, limit, error, sandbox, capabilities };
  return { runId, skill, model, trust, ...(presentFields(told) as unknown as JsonObject) };
}

function fits(
  run: DurableRun,
  { status, skill, userId, isRoot, rootId }: Omit<DurableRunFilter, "limit" | "tenant">,
): boolean {
  return (
    (status === undefined || status.includes(run.status)) &&
    (skill === undefined || run.skill === skill) &&
    (rootId === undefined || run.rootId === rootId) &&
    (userId === undefined || run.userId === userId) &&
    (isRoot === undefined || (run.parentId === undefined) === isRoot)
  );
}
