/**
 * All runs, newest first: the first page at once, older ones in the background, and changes as they happen. Kept while
 * the page is open, so that the list is there at once when the reader comes back.
 */
import type { ApiChange, ApiList, ApiRun, ApiRunSummary } from "@metier/service/api";
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, type Failure, me } from "./answers.ts";
import { connection, onChange } from "./live.ts";
import { mergeRuns } from "./merge-runs.ts";

const PAGE = 1_000;
const MOST_RUNS = 10_000;
/** Merges many changes in a row into one reload. */
const GATHER_MS = 300;
/** Up to this many changed runs are requested one by one; above it, the first page is read again. */
const MOST_SINGLE = 5;

let owner: string | undefined;

export interface AllRuns {
  readonly runs: readonly ApiRunSummary[];
  /** Older runs are still loading. */
  readonly isLoading: boolean;
  /** More runs exist than are shown. */
  readonly isCut: boolean;
  readonly failure?: Failure | undefined;
}

const NOTHING: AllRuns = { runs: [], isLoading: true, isCut: false };
const all = signal(NOTHING);

/** Only for the user who is signed in. */
effect(() => {
  if (me.value?.keyId !== owner) all.value = NOTHING;
  owner = me.value?.keyId;
});

export const FIRST_RUNS = `/v1/runs?limit=${PAGE}`;

export function useAllRuns(): AllRuns {
  useEffect(() => {
    const stop = new AbortController();
    void loadAll(stop.signal);
    const ignore = followRuns();
    return () => {
      stop.abort();
      ignore();
    };
  }, []);
  return all.value;
}

async function loadAll(stopped: AbortSignal): Promise<void> {
  let before: string | undefined;
  let count = 0;
  all.value = { ...all.peek(), isLoading: true, failure: undefined };
  for (;;) {
    const path = before === undefined ? FIRST_RUNS : `${FIRST_RUNS}&after=${encodeURIComponent(before)}`;
    const answer = await ask<ApiList<ApiRunSummary>>(path);
    if (stopped.aborted) return;
    if (!answer.ok) {
      all.value = { ...all.peek(), isLoading: false, failure: answer.refusal };
      return;
    }
    const { data, next } = answer.value;
    count += data.length;
    const isLast = next === undefined || data.length === 0 || count >= MOST_RUNS;
    all.value = {
      runs: mergeRuns(all.peek().runs, data).slice(0, MOST_RUNS),
      isLoading: !isLast,
      isCut: isLast && next !== undefined,
    };
    if (isLast) return;
    before = next;
  }
}

function followRuns(): () => void {
  const pending = new Set<string | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async (): Promise<void> => {
    const ids = [...pending];
    pending.clear();
    timer = undefined;
    const single = ids.flatMap((id) => (id === undefined ? [] : [id]));
    if (single.length < ids.length || single.length > MOST_SINGLE) await readFirst();
    else await Promise.all(single.map(readOne));
  };
  const note = ({ kind, id }: ApiChange): void => {
    if (kind !== "run") return;
    pending.add(id);
    timer ??= setTimeout(() => void look(), GATHER_MS);
  };
  const ignoreChanges = onChange(note);
  let isFirst = true;
  // After a lost connection, changes in between are unknown.
  const ignoreConnection = effect(() => {
    if (connection.value === "live" && !isFirst) note({ kind: "run" });
    isFirst = false;
  });
  return () => {
    clearTimeout(timer);
    ignoreChanges();
    ignoreConnection();
  };
}

async function readFirst(): Promise<void> {
  const answer = await ask<ApiList<ApiRunSummary>>(FIRST_RUNS);
  if (answer.ok) take(answer.value.data);
}

async function readOne(id: string): Promise<void> {
  const answer = await ask<ApiRun>(`/v1/runs/${encodeURIComponent(id)}`);
  // Runs that others started aren't in the list.
  if (answer.ok && answer.value.parent === undefined) take([answer.value]);
}

function take(changed: readonly ApiRunSummary[]): void {
  const now = all.peek();
  all.value = { ...now, runs: mergeRuns(now.runs, changed).slice(0, MOST_RUNS) };
}
