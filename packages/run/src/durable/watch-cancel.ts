/**
 * Whether runs that are worked on here were cancelled, by whoever and wherever. All runs of a store are asked about in one
 * query, so that a worker with many runs costs the store no more than one with few.
 */
import { setTimeout as wait } from "node:timers/promises";
import { type DurableRun, forAllTenants, type JournalStore, unbound } from "@metier/durable";

/** A run that is cancelled on another machine is gone within two seconds, its processes' grace included. */
const LOOK_EVERY_MS = 500;

type Watched = Map<string, AbortController>;

const watches = new WeakMap<JournalStore, Watched>();

/** Aborted when the run is cancelled by anybody. No longer looked for once `ended` is aborted. */
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
    // The same run may be worked on here again by then.
    if (watched.get(id) === cancelled) watched.delete(id);
  });
  if (watched.size === 1) void forAllTenants(() => look(store, watched));
  return cancelled.signal;
}

/** Until none is left. A store that cannot be reached is asked again: what it costs a run, the run itself says. */
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
