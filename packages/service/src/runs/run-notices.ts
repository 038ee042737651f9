/**
 * Notifies whoever waits for news of a run: in this process, by everything that writes to the journal. Nothing is
 * stored; a stream that missed a notice checks the journal itself after a while.
 */
import type { JournalStore, Question } from "@metier/durable";

/** What lists must reload. */
export type ListChange =
  | { readonly kind: "run" | "approval"; readonly id: string; readonly runId: string }
  | { readonly kind: "catalog"; readonly tenant: string };

export interface RunNotices {
  /** Something about this run was written. */
  changed(runId: string): void;
  /** This run's model wrote a piece of text. It isn't stored: the whole answer is in the journal when it ends. */
  wrote(runId: string, piece: string): void;
  /** Receives each piece; returns a function that ends it. */
  onText(runId: string, listener: (piece: string) => void): () => void;
  /**
   * Resolves at the next change, after `ms`, or when the signal aborts. Call it before you read, so that nothing is
   * missed.
   */
  next(runId: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Notifies everyone who follows all changes. */
  tell(change: ListChange): void;
  /** Receives each change, of all tenants; returns a function that ends it. */
  onChange(listener: (change: ListChange) => void): () => void;
}

/** Pieces of text within this time are sent together. */
const FRAME_MS = 50;

export function createRunNotices(): RunNotices {
  const waiting = new Map<string, Set<() => void>>();
  const readers = new Map<string, Set<(piece: string) => void>>();
  const frames = new Map<string, NodeJS.Timeout>();
  const followers = new Set<(change: ListChange) => void>();
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
    tell(change) {
      for (const follower of followers) follower(change);
    },
    onChange(listener) {
      followers.add(listener);
      return () => void followers.delete(listener);
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
  const tellRun = (runId: string): void => notices.tell({ kind: "run", id: runId, runId });
  const toldRun = async <Value>(runId: string, work: Promise<Value>): Promise<Value> => {
    const value = await told(runId, work);
    tellRun(runId);
    return value;
  };
  const tellQuestion = ({ id, runId }: Pick<Question, "id" | "runId">): void =>
    notices.tell({ kind: "approval", id, runId });
  return {
    async create(run, line, quotas) {
      const outcome = await journal.create(run, line, quotas);
      if (outcome === "created") tellRun(run.id);
      return outcome;
    },
    get: (runId) => journal.get(runId),
    list: (filter) => journal.list(filter),
    usage: (filter) => journal.usage(filter),
    take: (lease) => toldRun(lease.rootId, journal.take(lease)),
    async write(lease, batch) {
      const { runId, status, questions = [] } = batch;
      await told(runId, journal.write(lease, batch));
      if (status !== undefined) tellRun(runId);
      for (const { id } of questions) tellQuestion({ id, runId });
    },
    async createChild(lease, run) {
      await journal.createChild(lease, run);
      tellRun(run.id);
    },
    entries: (runId) => journal.entries(runId),
    events: (runId, after, limit) => journal.events(runId, after, limit),
    cancel: (runId, line) => toldRun(runId, journal.cancel(runId, line)),
    cancelled: (runIds) => journal.cancelled(runIds),
    question: (id) => journal.question(id),
    questionFor: (runId, key) => journal.questionFor(runId, key),
    questions: (filter) => journal.questions(filter),
    async answer(id, answer, line) {
      const outcome = await journal.answer(id, answer, line);
      if (outcome.kind === "taken") tellQuestion(outcome.question);
      return outcome;
    },
    async expireQuestions(now) {
      const expired = await journal.expireQuestions(now);
      for (const question of expired) tellQuestion(question);
      return expired;
    },
    purge: (before) => journal.purge(before),
    forget: (runId) => journal.forget(runId),
    snapshots: () => journal.snapshots(),
    lastSnapshot: (rootId) => journal.lastSnapshot(rootId),
    countByStatus: (tenant) => journal.countByStatus(tenant),
    close: () => journal.close(),
  };
}
