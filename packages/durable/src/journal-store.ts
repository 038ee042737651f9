/**
 * The journal: what runs decided and saw, redacted, in order. It is the truth about a durable run; who advances it, and
 * when, is the engine's business. One contract suite (`test/contract`) holds every store to this page.
 */
import type { Json, JsonObject } from "@metier/base/json";

/** How a durable run stands: waiting to be started, worked on, waiting for a person, or how it ended. */
export type DurableStatus =
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "limited"
  | "failed"
  | "refused"
  | "cancelled";

/** Those after which nothing changes any more. */
export const ENDED: ReadonlySet<DurableStatus> = new Set([
  "completed",
  "limited",
  "failed",
  "refused",
  "cancelled",
]);

/** A run as it is asked for. `order` is all that is needed to start it again; secrets stand in it by name only. */
export interface NewDurableRun {
  readonly id: string;
  readonly tenant: string;
  /** Of the user it is for; absent: nobody in particular. */
  readonly userId?: string | undefined;
  readonly skill?: string | undefined;
  /** The run that started this one. Its root's lease guards this one's writes, too. */
  readonly parentId?: string | undefined;
  readonly order: JsonObject;
}

export interface DurableRun extends NewDurableRun {
  /** The outermost run above it, or itself. */
  readonly rootId: string;
  readonly status: DurableStatus;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it was worked on; time in which it waited for a person does not count. */
  readonly activeMs: number;
  /** The sequence number of its last event. */
  readonly lastEvent: number;
  readonly isCancelled: boolean;
  /** Once it has ended. */
  readonly result?: Json | undefined;
}

/** Who may write: `holder` is new with each lease, so that one who lost it is told apart from one who has it. */
export interface JournalLease {
  readonly rootId: string;
  readonly holder: string;
  /** `RunLease.term`: a worker that was paused before it took the journal must not take it from its successor. */
  readonly term: number;
}

/** One step, under a key that is unique in its run. */
export interface JournalEntry {
  readonly key: string;
  readonly value: Json;
  /** The snapshot of the work folder that belongs to it: needed for as long as the run is there. */
  readonly snapshot?: string | undefined;
}

export interface NeededSnapshot {
  readonly tenant: string;
  readonly name: string;
}

/** An event with its number in its run: 1, 2, 3 … */
export interface JournalEvent {
  readonly seq: number;
  readonly event: Json;
}

/** What is written together or not at all. */
export interface JournalBatch {
  readonly runId: string;
  /** A key that has a value already keeps it: `write` throws. */
  readonly entries?: readonly JournalEntry[] | undefined;
  readonly events?: readonly JournalEvent[] | undefined;
  readonly questions?: readonly NewQuestion[] | undefined;
  readonly status?: DurableStatus | undefined;
  readonly result?: Json | undefined;
  readonly activeMs?: number | undefined;
}

export type QuestionKind = "approval" | "question" | "confirmation";

/** Something a person has to say before a run goes on. One for each `key` in a run: asked again, it is the same one. */
export interface NewQuestion {
  readonly id: string;
  readonly key: string;
  readonly kind: QuestionKind;
  /** What is asked, redacted: tool, input, rule, diff; or the question and its options. */
  readonly body: JsonObject;
  /** Milliseconds since 1970; absent: it waits for ever. */
  readonly expiresAt?: number | undefined;
}

export type QuestionStatus = "pending" | "approved" | "denied" | "answered" | "expired" | "cancelled";

export interface Question extends NewQuestion {
  readonly runId: string;
  readonly rootId: string;
  readonly tenant: string;
  readonly status: QuestionStatus;
  readonly askedAt: number;
  readonly answer?: Json | undefined;
  readonly answeredBy?: string | undefined;
  readonly answeredAt?: number | undefined;
}

export interface QuestionAnswer {
  readonly status: "approved" | "denied" | "answered";
  /** A note, an edited input, or the text that answers a question. */
  readonly answer?: Json | undefined;
  readonly by: string;
}

/** `taken`: this answer counts. `late`: another one came first, or its time was over; `question` says which. */
export type AnswerOutcome =
  | { readonly kind: "taken"; readonly question: Question }
  | { readonly kind: "late"; readonly question: Question }
  | { readonly kind: "unknown" };

export interface DurableRunFilter {
  readonly tenant?: string | undefined;
  readonly status?: readonly DurableStatus[] | undefined;
  readonly skill?: string | undefined;
  readonly userId?: string | undefined;
  /** Only runs that no other run started. */
  readonly isRoot?: boolean | undefined;
  /** Newest first; those before this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface QuestionFilter {
  readonly tenant?: string | undefined;
  readonly rootId?: string | undefined;
  readonly status?: QuestionStatus | undefined;
  /** Oldest first; those after this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface JournalStore {
  /** `false`: a run of that id is there already, and stays as it is. */
  create(run: NewDurableRun): Promise<boolean>;
  get(runId: string): Promise<DurableRun | undefined>;
  list(filter: DurableRunFilter): Promise<readonly DurableRun[]>;
  /**
   * Makes the lease's holder the only one who may write to the root run and to all that it started. Throws `LeaseLostError`
   * when a later term has taken it already.
   */
  take(lease: JournalLease): Promise<void>;
  /**
   * Throws `LeaseLostError` when somebody else is the holder by now, and plain errors for a key that is there, for an event
   * whose number does not follow, and for a run that has ended; nothing of the batch is written then. A root run that ends
   * ends what it started, too: `cancelled`, with its questions.
   */
  write(lease: JournalLease, batch: JournalBatch): Promise<void>;
  /** A run that a run under this lease starts; the same id again is the same run. */
  createChild(lease: JournalLease, run: NewDurableRun & { readonly parentId: string }): Promise<void>;
  /** In the order in which they were written. */
  entries(runId: string): Promise<readonly JournalEntry[]>;
  /** All snapshots that runs need, each once. */
  snapshots(): Promise<readonly NeededSnapshot[]>;
  /** Those after `after`, in order. */
  events(runId: string, after: number, limit: number): Promise<readonly JournalEvent[]>;
  /** It is to end; whoever advances it sees this. `undefined`: there is none, or it has ended. */
  cancel(runId: string): Promise<DurableRun | undefined>;
  question(id: string): Promise<Question | undefined>;
  questionFor(runId: string, key: string): Promise<Question | undefined>;
  questions(filter: QuestionFilter): Promise<readonly Question[]>;
  /** Counted once, whoever answers and however often. */
  answer(id: string, answer: QuestionAnswer): Promise<AnswerOutcome>;
  /** Those whose time is over become `expired`; gives them. */
  expireQuestions(now: number): Promise<readonly Question[]>;
  /** Everything of ended root runs, and of what they started, that was last touched before this time. */
  purge(before: number): Promise<number>;
  close(): Promise<void>;
}

/** Another worker holds the run now. Nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(rootId: string) {
    super(`The lease of run \`${rootId}\` was lost: another worker advances it now.`);
  }
}
