/**
 * The journal: what runs decided and saw, redacted, in order. It is the authoritative record of a durable run; the
 * engine decides who advances it, and when. One contract suite (`test/contract`) tests every store against this port.
 */
import type { Json, JsonObject } from "@metier/base/json";
import type { NewAuditLine } from "./record-store.ts";
import type { UsageFilter, UsageSum } from "./usage.ts";

/** A durable run's status: waiting to start, in progress, waiting for a person, or how it ended. */
export type DurableStatus =
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "limited"
  | "failed"
  | "refused"
  | "cancelled";

/** Statuses after which nothing changes. */
export const ENDED: ReadonlySet<DurableStatus> = new Set([
  "completed",
  "limited",
  "failed",
  "refused",
  "cancelled",
]);

/** A requested run. `order` is everything needed to start it again; it has secrets only by name. */
export interface NewDurableRun {
  /** Unique among all runs. */
  readonly id: string;
  /** The run's tenant; `default` if there is only one. */
  readonly tenant: string;
  /** The user it is for; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** The skill it runs; absent for a conversation turn. */
  readonly skill?: string | undefined;
  /** The run that started this one. Its root's lease also guards this one's writes. */
  readonly parentId?: string | undefined;
  /** The request, as JSON. */
  readonly order: JsonObject;
}

/** A run that another one starts. */
export interface NewChildRun extends NewDurableRun {
  /** The run that starts it. */
  readonly parentId: string;
}

/** A run in the journal. */
export interface DurableRun extends NewDurableRun {
  /** The outermost run above it, or itself. */
  readonly rootId: string;
  /** Its status. */
  readonly status: DurableStatus;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was last written to, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** How long it was worked on; time spent waiting for a person doesn't count. */
  readonly activeMs: number;
  /** The sequence number of its last event. */
  readonly lastEvent: number;
  /** Whether someone asked to cancel it; it may still be running. */
  readonly isCancelled: boolean;
  /** Once it has ended. */
  readonly result?: Json | undefined;
}

/** Who may write: each lease has a new `holder`, which distinguishes whoever lost it from whoever has it. */
export interface JournalLease {
  /** The run of the lease. It also covers the runs that this one starts. */
  readonly rootId: string;
  /** `RunLease.holder`. */
  readonly holder: string;
  /** `RunLease.term`: a worker that was paused before it took the journal must not take it from its successor. */
  readonly term: number;
}

/** One step, under a key that is unique in its run. */
export interface JournalEntry {
  /** What step it is, such as `result` and the name of a call. */
  readonly key: string;
  /** The outcome of the step, redacted. */
  readonly value: Json;
  /** The snapshot of the work folder that belongs to it: needed as long as the run exists. */
  readonly snapshot?: string | undefined;
}

/** A snapshot that a run may have to restore. */
export interface NeededSnapshot {
  /** Its tenant. */
  readonly tenant: string;
  /** As returned by `SnapshotStore.take`. */
  readonly name: string;
}

/** An event with its number in its run: 1, 2, 3 … */
export interface JournalEvent {
  /** Its number in its run. */
  readonly seq: number;
  /** A `RunEvent`, redacted. */
  readonly event: Json;
}

/** What is written together or not at all. */
export interface JournalBatch {
  /** The run to write to: the lease's root run, or one that it started. */
  readonly runId: string;
  /** A key with a value keeps it: `write` throws. */
  readonly entries?: readonly JournalEntry[] | undefined;
  /** Each with the next number. */
  readonly events?: readonly JournalEvent[] | undefined;
  /** Questions for people. */
  readonly questions?: readonly NewQuestion[] | undefined;
  /** The run's new status; absent: unchanged. */
  readonly status?: DurableStatus | undefined;
  /** For a run that ends with this batch. */
  readonly result?: Json | undefined;
  /** How long the run was worked on in total, in milliseconds; absent: unchanged. */
  readonly activeMs?: number | undefined;
}

/** A tool call to approve, a question to the user, or a capability's change to confirm. */
export type QuestionKind = "approval" | "question" | "confirmation";

/** Something a person must answer before a run continues. One per `key` in a run: asking again returns the same one. */
export interface NewQuestion {
  /** Unique among all questions. */
  readonly id: string;
  /** Its key within the run. */
  readonly key: string;
  /** What kind of answer is needed. */
  readonly kind: QuestionKind;
  /** What is asked, redacted: tool, input, rule, diff; or the question and its options. */
  readonly body: JsonObject;
  /** Milliseconds since 1970; absent: it waits forever. */
  readonly expiresAt?: number | undefined;
}

/** Whether someone has answered, and the outcome. */
export type QuestionStatus = "pending" | "approved" | "denied" | "answered" | "expired" | "cancelled";

/** A question in the journal, with its answer if any. */
export interface Question extends NewQuestion {
  /** The run that asks. */
  readonly runId: string;
  /** The outermost run above it, or itself. */
  readonly rootId: string;
  /** The tenant of the run. */
  readonly tenant: string;
  /** Whether someone has answered. */
  readonly status: QuestionStatus;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** `QuestionAnswer.answer`. */
  readonly answer?: Json | undefined;
  /** Who answered. */
  readonly answeredBy?: string | undefined;
  /** Milliseconds since 1970. */
  readonly answeredAt?: number | undefined;
}

/** A person's answer to a question. */
export interface QuestionAnswer {
  /** `approved` or `denied` for a call, `answered` for a question to the user. */
  readonly status: "approved" | "denied" | "answered";
  /** A note, an edited input, or the text that answers a question. */
  readonly answer?: Json | undefined;
  /** Who answers: a name, or a user id. */
  readonly by: string;
}

/** `taken`: this answer counts. `late`: another one came first, or it had expired; `question` says which. */
export type AnswerOutcome =
  | { readonly kind: "taken"; readonly question: Question }
  | { readonly kind: "late"; readonly question: Question }
  | { readonly kind: "unknown" };

/** How much someone may start; an absent field doesn't limit. */
export interface StartQuotas {
  /** Root runs created within any 60 seconds. */
  readonly startsPerMinute?: number | undefined;
  /** Root runs that haven't ended: queued, in progress or waiting. */
  readonly openRuns?: number | undefined;
  /** Tokens of runs that were created on one day (UTC) and have ended. */
  readonly tokensPerDay?: number | undefined;
  /** Their cost. */
  readonly costPerDay?: number | undefined;
}

/** The quotas of a new run. Counted in the transaction that creates it, so that no two get the last slot. */
export interface RunQuotas {
  /** For all runs of its tenant. */
  readonly tenant?: StartQuotas | undefined;
  /** For all runs of its tenant for its user; a run for nobody has none. */
  readonly user?: StartQuotas | undefined;
}

/** It wasn't created: a quota is used up. */
export interface QuotaFull {
  /** Whose quota it is. */
  readonly of: "tenant" | "user";
  /** Which quota. */
  readonly quota: keyof StartQuotas;
  /** How much is used. */
  readonly used: number;
  /** What is allowed. */
  readonly most: number;
  /** When there is room again, in milliseconds since 1970; absent: when a run ends. */
  readonly retryAt?: number | undefined;
}

/** `known`: a run with that id exists and stays unchanged. */
export type CreateOutcome = "created" | "known" | QuotaFull;

/** Which runs to list; an absent field excludes nothing. */
export interface DurableRunFilter {
  /** Only this tenant's. */
  readonly tenant?: string | undefined;
  /** Only runs with one of these statuses. */
  readonly status?: readonly DurableStatus[] | undefined;
  /** Only runs of this skill. */
  readonly skill?: string | undefined;
  /** Only runs for this user. */
  readonly userId?: string | undefined;
  /** Only this run, and those that it started. */
  readonly rootId?: string | undefined;
  /** Only runs that no other run started. */
  readonly isRoot?: boolean | undefined;
  /**
   * Only waiting runs whose worker may not know that they can continue: a question was answered or expired since a
   * worker last took the run (`take`), they are cancelled, or nothing is left to wait for.
   */
  readonly isOwed?: true | undefined;
  /** Newest first; those before this id. */
  readonly before?: string | undefined;
  /** How many at most. */
  readonly limit: number;
}

/** Which questions to list; an absent field excludes nothing. */
export interface QuestionFilter {
  /** Only these. */
  readonly kinds?: readonly QuestionKind[] | undefined;
  /** Only this tenant's. */
  readonly tenant?: string | undefined;
  /** Only those of this run and of the runs that it started. */
  readonly rootId?: string | undefined;
  /** Only those with this status. */
  readonly status?: QuestionStatus | undefined;
  /** Oldest first; those after this id. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit: number;
}

/**
 * Where durable runs are recorded. An audit `line` is written together with the change it describes, and only if the
 * change happens; a store without an audit log ignores it.
 */
export interface JournalStore {
  /** Quotas don't apply to a run that already exists. */
  create(run: NewDurableRun, line?: NewAuditLine, quotas?: RunQuotas): Promise<CreateOutcome>;
  /** `undefined`: there is none. */
  get(runId: string): Promise<DurableRun | undefined>;
  /** Newest first. */
  list(filter: DurableRunFilter): Promise<readonly DurableRun[]>;
  /** What root runs that have ended used, from their results: one sum per day, skill or user, ordered by name. */
  usage(filter: UsageFilter): Promise<readonly UsageSum[]>;
  /**
   * Makes the lease's holder the only writer of the root run and everything it started. Throws `LeaseLostError` if a
   * later term has already taken it. Sets the run to `running`, unless it has ended, and returns it.
   */
  take(lease: JournalLease): Promise<DurableRun>;
  /**
   * Throws `LeaseLostError` if someone else is the holder, and plain errors for an existing key, an event out of order,
   * and a run that has ended; then nothing of the batch is written. A root run that ends also ends what it started, as
   * `cancelled`, with its questions.
   */
  write(lease: JournalLease, batch: JournalBatch): Promise<void>;
  /** A run that a run under this lease starts; the same id returns the same run. */
  createChild(lease: JournalLease, run: NewChildRun): Promise<void>;
  /** In the order in which they were written. */
  entries(runId: string): Promise<readonly JournalEntry[]>;
  /** All snapshots that runs need, each once. */
  snapshots(): Promise<readonly NeededSnapshot[]>;
  /** Those after `after`, in order. */
  events(runId: string, after: number, limit: number): Promise<readonly JournalEvent[]>;
  /** Requests the end of a run; whoever advances it sees this. `undefined`: there is none, or it has ended. */
  cancel(runId: string, line?: NewAuditLine): Promise<DurableRun | undefined>;
  /** Which of these are cancelled. */
  cancelled(runIds: readonly string[]): Promise<readonly string[]>;
  /** `undefined`: there is none. */
  question(id: string): Promise<Question | undefined>;
  /** The question that a run asked under this key, answered or not. */
  questionFor(runId: string, key: string): Promise<Question | undefined>;
  /** Oldest first. */
  questions(filter: QuestionFilter): Promise<readonly Question[]>;
  /** Counts once, whoever answers and however often. */
  answer(id: string, answer: QuestionAnswer, line?: NewAuditLine): Promise<AnswerOutcome>;
  /** Marks those whose time is over as `expired`, and returns them. */
  expireQuestions(now: number): Promise<readonly Question[]>;
  /** Deletes everything of ended root runs, and what they started, last touched before this time. */
  purge(before: number): Promise<number>;
  /**
   * Deletes everything of a root run, and what it started, whatever its status; nobody may be working on it. `false`:
   * there is none.
   */
  forget(runId: string): Promise<boolean>;
  /** The latest snapshot taken in this run, or in one that it started. `undefined`: there is none. */
  lastSnapshot(rootId: string): Promise<string | undefined>;
  /** How many root runs of this tenant (absent: of all) have each status. */
  countByStatus(tenant?: string): Promise<Readonly<Partial<Record<DurableStatus, number>>>>;
  /** Nothing can be read or written afterwards. */
  close(): Promise<void>;
}

/** Another worker now holds the run. Nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(rootId: string) {
    super(`The lease of run \`${rootId}\` was lost: another worker is advancing it.`);
  }
}

/** The reading part, also for processes that may not write. */
export type JournalReading = Pick<
  JournalStore,
  | "get"
  | "list"
  | "usage"
  | "entries"
  | "snapshots"
  | "lastSnapshot"
  | "countByStatus"
  | "cancelled"
  | "events"
  | "question"
  | "questionFor"
  | "questions"
>;
