/**
 * Who waits for something new of a run is told at once: in this process, by whatever writes to the journal. Nothing is
 * stored here; a stream that missed a notice looks into the journal by itself after a while.
 */
import type { JournalStore } from "@metier/durable";

export interface RunNotices {
  /** Something of this run was written. */
  changed(runId: string): void;
  /** Resolves at the next change, after `ms`, or when the signal aborts. Ask before you read, so that nothing is missed. */
  next(runId: string, ms: number, signal: AbortSignal): Promise<void>;
}

export function createRunNotices(): RunNotices {
  const waiting = new Map<string, Set<() => void>>();
  return {
    changed(runId) {
      const all = waiting.get(runId);
      waiting.delete(runId);
      for (const wake of all ?? []) wake();
    },
    next(runId, ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const all = waiting.get(runId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        all.delete(wake);
        if (all.size === 0 && waiting.get(runId) === all) waiting.delete(runId);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener("abort", wake, { once: true });
      waiting.set(runId, all.add(wake));
      if (signal.aborted) wake();
      return promise;
    },
  };
}

/** The same journal; each write to a run is a notice. */
export function watchJournal(journal: JournalStore, notices: RunNotices): JournalStore {
  const told = async <Value>(runId: string, work: Promise<Value>): Promise<Value> => {
    const value = await work;
    notices.changed(runId);
    return value;
  };
  return {
    create: (run) => journal.create(run),
    get: (runId) => journal.get(runId),
    list: (filter) => journal.list(filter),
    take: (lease) => journal.take(lease),
    write: (lease, batch) => told(batch.runId, journal.write(lease, batch)),
    createChild: (lease, run) => journal.createChild(lease, run),
    entries: (runId) => journal.entries(runId),
    events: (runId, after, limit) => journal.events(runId, after, limit),
    cancel: (runId) => told(runId, journal.cancel(runId)),
    question: (id) => journal.question(id),
    questionFor: (runId, key) => journal.questionFor(runId, key),
    questions: (filter) => journal.questions(filter),
    answer: (id, answer) => journal.answer(id, answer),
    expireQuestions: (now) => journal.expireQuestions(now),
    purge: (before) => journal.purge(before),
    snapshots: () => journal.snapshots(),
    close: () => journal.close(),
  };
}
