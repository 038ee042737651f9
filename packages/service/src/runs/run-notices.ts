/**
 * Who waits for something new of a run is told at once: in this process, by whatever writes to the journal. Nothing is
 * stored here; a stream that missed a notice looks into the journal by itself after a while.
 */
import type { JournalStore } from "@metier/durable";

export interface RunNotices {
  /** Something of this run was written. */
  changed(runId: string): void;
  /** The model of this run has written a piece of text. Nobody keeps it: the whole answer is in the journal when it ends. */
  wrote(runId: string, piece: string): void;
  /** Hears of each piece; gives what ends it. */
  onText(runId: string, listener: (piece: string) => void): () => void;
  /** Resolves at the next change, after `ms`, or when the signal aborts. Ask before you read, so that nothing is missed. */
  next(runId: string, ms: number, signal: AbortSignal): Promise<void>;
}

/** Pieces of text within this time travel together. */
const FRAME_MS = 50;

export function createRunNotices(): RunNotices {
  const waiting = new Map<string, Set<() => void>>();
  const readers = new Map<string, Set<(piece: string) => void>>();
  const frames = new Map<string, NodeJS.Timeout>();
  const changed = (runId: string): void => {
    const all = waiting.get(runId);
    waiting.delete(runId);
    for (const wake of all ?? []) wake();
  };
  const endFrame = (runId: string): void => {
    frames.delete(runId);
    changed(runId);
  };
  return {
    changed,
    wrote(runId, piece) {
      const all = readers.get(runId);
      if (all === undefined) return;
      for (const listener of all) listener(piece);
      if (!frames.has(runId)) frames.set(runId, setTimeout(() => endFrame(runId), FRAME_MS).unref());
    },
    onText(runId, listener) {
      const all = readers.get(runId) ?? new Set();
      readers.set(runId, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0 && readers.get(runId) === all) readers.delete(runId);
      };
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
    create: (run, line) => journal.create(run, line),
    get: (runId) => journal.get(runId),
    list: (filter) => journal.list(filter),
    usage: (filter) => journal.usage(filter),
    take: (lease) => journal.take(lease),
    write: (lease, batch) => told(batch.runId, journal.write(lease, batch)),
    createChild: (lease, run) => journal.createChild(lease, run),
    entries: (runId) => journal.entries(runId),
    events: (runId, after, limit) => journal.events(runId, after, limit),
    cancel: (runId, line) => told(runId, journal.cancel(runId, line)),
    question: (id) => journal.question(id),
    questionFor: (runId, key) => journal.questionFor(runId, key),
    questions: (filter) => journal.questions(filter),
    answer: (id, answer, line) => journal.answer(id, answer, line),
    expireQuestions: (now) => journal.expireQuestions(now),
    purge: (before) => journal.purge(before),
    forget: (runId) => journal.forget(runId),
    snapshots: () => journal.snapshots(),
    close: () => journal.close(),
  };
}
