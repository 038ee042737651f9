/**
 * Notices when runs in progress here are cancelled, by anyone, anywhere. One query covers all runs of a store, so many
 * runs cost the store no more than a few.
 */
import { setTimeout as wait } from "node:timers/promises";
import { type DurableRun, forAllTenants, type JournalStore, unbound } from "@metier/durable";

/** A run cancelled on another machine is gone within two seconds, including the grace period of its processes. */
const LOOK_EVERY_MS = 500;

type Watched = Map<string, AbortController>;

const watches = new WeakMap<JournalStore, Watched>();

/** Aborted when anyone cancels the run. Stops looking once `ended` is aborted. */
export function watchCancel(
  given: JournalStore,
  { id, isCancelled }: Pick<DurableRun, "id" | "isCancelled">,
  ended: AbortSignal,
): AbortSignal {
  const cancelled = new AbortController();
  if (isCancelled) cancelled.abort();
  if (isCancelled || ended.aborted) return cancelled.signal;
  const store = unbound(given);
  const known = watches.get(store);
  const watched: Watched = known ?? new Map();
  watches.set(store, watched);
  watched.set(id, cancelled);
  ended.addEventListener("abort", () => {
    // The same run may be in progress here again by then.
    if (watched.get(id) === cancelled) watched.delete(id);
  });
  if (watched.size === 1) void forAllTenants(() => look(store, watched));
  return cancelled.signal;
}

/** Until none is left. An unreachable store is asked again; the run itself reports the consequences. */
async function look(store: JournalStore, watched: Watched): Promise<void> {
  while (watched.size > 0) {
    await wait(LOOK_EVERY_MS, undefined, { ref: false });
    const found = await store.cancelled([...watched.keys()]).catch(() => []);
    for (const runId of found) {
      watched.get(runId)?.abort();
      watched.delete(runId);
    }
  }
}
