/**
 * At a start: what the journal has and the engine forgot. A process that was killed between two writes, or a power cut, can
 * leave a run that nobody is told of, and an answer that woke nobody.
 */
import type { DurableStatus, JournalStore } from "./journal-store.ts";
import type { RunEngine } from "./run-engine.ts";

const PAGE = 500;

/** For all of it, nothing changes where journal and engine agree. */
export async function catchUp(journal: JournalStore, engine: RunEngine): Promise<void> {
  for await (const { id } of rootRuns(journal, ["queued", "running"])) await engine.enqueue(id);
  for await (const { id, isCancelled } of rootRuns(journal, ["waiting"])) {
    const pending = await journal.questions({ rootId: id, status: "pending", limit: 1 });
    if (pending.length === 0 || isCancelled) await engine.wake(id);
  }
}

async function* rootRuns(
  journal: JournalStore,
  status: readonly DurableStatus[],
): AsyncGenerator<{ readonly id: string; readonly isCancelled: boolean }> {
  let before: string | undefined;
  do {
    const page = await journal.list({ status, isRoot: true, before, limit: PAGE });
    yield* page;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}
