/**
 * At startup: restores what the journal has but the engine lost. A process killed between two writes, or a power cut,
 * can leave a run that nobody knows of, or an answer that woke nobody.
 */
import { type DurableRun, type DurableRunFilter, ENDED, type JournalStore } from "./journal-store.ts";
import type { RunEngine } from "./run-engine.ts";

const PAGE = 500;

/**
 * The tenant of runs started in a terminal. They use that person's folders and configuration, so only a command that
 * names one continues it: no service advances them, and none of its clients sees them.
 */
export const TERMINAL_TENANT = "@terminal";

/** For all runs; changes nothing if journal and engine agree. Terminal runs are left to `catchUpOne`. */
export async function catchUp(journal: JournalStore, engine: RunEngine): Promise<void> {
  for await (const { id, tenant, userId } of pages(journal, {
    status: ["queued", "running"],
    isRoot: true,
  })) {
    if (tenant !== TERMINAL_TENANT) await engine.enqueue(id, { tenant, userId });
  }
  for await (const { id, tenant } of pages(journal, { isOwed: true })) {
    if (tenant !== TERMINAL_TENANT) await engine.wake(id);
  }
}

/** The same for one run, whoever owns it. */
export async function catchUpOne(journal: JournalStore, engine: RunEngine, runId: string): Promise<void> {
  const run = await journal.get(runId);
  if (run === undefined || ENDED.has(run.status)) return;
  const { tenant, userId } = run;
  if (run.status !== "waiting") return engine.enqueue(run.id, { tenant, userId });
  const owed = await journal.list({ rootId: run.id, isOwed: true, limit: 1 });
  if (owed.length > 0) await engine.wake(run.id);
}

async function* pages(
  journal: JournalStore,
  filter: Omit<DurableRunFilter, "before" | "limit">,
): AsyncGenerator<DurableRun> {
  let before: string | undefined;
  do {
    const page = await journal.list({ ...filter, before, limit: PAGE });
    yield* page;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}
