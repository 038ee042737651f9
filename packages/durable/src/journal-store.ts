/**
 * The journal: what runs decided and saw, redacted, in order. It is the truth about a durable run; who advances it, and
 * when, is the engine's business. One contract suite (`test/contract`) holds every store to this page.
 */
import type { Json, JsonObject } from "@metier/base/json";
import type { NewAuditLine } from "./record-store.ts";
import type { UsageFilter, UsageSum } from "./usage.ts";

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
  /** Unique among all runs. */
  readonly id: string;
  /** Whose run it is; `default` where there is only one tenant. */
  readonly tenant: string;
  /** Of the user it is for; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** The skill it runs; absent for a turn of a conversation. */
  readonly skill?: string | undefined;
  /** The run that started this one. Its root's lease guards this one's writes, too. */
  readonly parentId?: string | undefined;
  /** What was asked for, as JSON. */
  readonly order: JsonObject;
}

/** A run that another one starts. */
export interface NewChildRun extends NewDurableRun {
  /** The run that starts it. */
  readonly parentId: string;
}

/** A run as the journal knows it. */
export interface DurableRun extends NewDurableRun {
  /** The outermost run above it, or itself. */
  readonly rootId: string;
  /** How it stands. */
  readonly status: DurableStatus;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was last written to, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** How long it was worked on; time in which it waited for a person does not count. */
  readonly activeMs: number;
  /** The sequence number of its last event. */
  readonly lastEvent: number;
  /** Whether somebody asked to cancel it; it may still be running. */
  readonly isCancelled: boolean;
  /** Once it has ended. */
  readonly result?: Json | undefined;
}

/** Who may write: `holder` is new with each lease, so that one who lost it is told apart from one who has it. */
export interface JournalLease {
  /** The run whose lease it is. It covers the runs that this one starts. */
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
  /** What the step came to, redacted. */
  readonly value: Json;
  /** The snapshot of the work folder that belongs to it: needed for as long as the run is there. */
  readonly snapshot?: string | undefined;
}

/** A snapshot that a run may have to go back to. */
export interface NeededSnapshot {
  /** Whose it is. */
  readonly tenant: string;
  /** As `SnapshotStore.take` gave it. */
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
  /** The run that is written to: the root run of the lease, or one that it started. */
  readonly runId: string;
  /** A key that has a value already keeps it: `write` throws. */
  readonly entries?: readonly JournalEntry[] | undefined;
  /** Each with the number that follows the last one. */
  readonly events?: readonly JournalEvent[] | undefined;
  /** What people have to answer. */
  readonly questions?: readonly NewQuestion[] | undefined;
  /** How the run stands from now on; absent: as before. */
  readonly status?: DurableStatus | undefined;
  /** Of a run that ends with this batch. */
  readonly result?: Json | undefined;
  /** How long the run was worked on in all, in milliseconds; absent: as before. */
  readonly activeMs?: number | undefined;
}

/** A tool call to approve, a question to the user, or a change of a capability to confirm. */
export type QuestionKind = "approval" | "question" | "confirmation";

/** Something a person has to say before a run goes on. One for each `key` in a run: asked again, it is the same one. */
export interface NewQuestion {
  /** Unique among all questions. */
  readonly id: string;
  /** Which question of its run it is. */
  readonly key: string;
  /** What is asked for. */
  readonly kind: QuestionKind;
  /** What is asked, redacted: tool, input, rule, diff; or the question and its options. */
  readonly body: JsonObject;
  /** Milliseconds since 1970; absent: it waits for ever. */
  readonly expiresAt?: number | undefined;
}

/** Whether somebody has answered, and what became of it. */
export type QuestionStatus = "pending" | "approved" | "denied" | "answered" | "expired" | "cancelled";

/** A question as the journal knows it, with its answer if it has one. */
export interface Question extends NewQuestion {
  /** The run that asks. */
  readonly runId: string;
  /** The outermost run above it, or itself. */
  readonly rootId: string;
  /** The tenant of the run. */
  readonly tenant: string;
  /** Whether somebody has answered. */
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

/** What a person says to a question. */
export interface QuestionAnswer {
  /** `approved` or `denied` for a call, `answered` for a question to the user. */
  readonly status: "approved" | "denied" | "answered";
  /** A note, an edited input, or the text that answers a question. */
  readonly answer?: Json | undefined;
  /** Who answers: a name, or the id of a user. */
  readonly by: string;
}

/** `taken`: this answer counts. `late`: another one came first, or its time was over; `question` says which. */
export type AnswerOutcome =
  | { readonly kind: "taken"; readonly question: Question }
  | { readonly kind: "late"; readonly question: Question }
  | { readonly kind: "unknown" };

/** How much somebody may start; a field that is absent limits nothing. */
export interface StartQuotas {
  /** Root runs that are created within any 60 seconds. */
  readonly startsPerMinute?: number | undefined;
  /** Root runs that have not ended: queued, worked on or waiting. */
  readonly openRuns?: number | undefined;
  /** Tokens of runs that were created on one day (UTC) and have ended. */
  readonly tokensPerDay?: number | undefined;
  /** Their cost. */
  readonly costPerDay?: number | undefined;
}

/** What a new run has to keep to. Counted in the transaction that creates it, so that no two get the last place. */
export interface RunQuotas {
  /** Of all runs of its tenant. */
  readonly tenant?: StartQuotas | undefined;
  /** Of all runs of its tenant for its user; a run for nobody has none. */
  readonly user?: StartQuotas | undefined;
}

/** It was not created: there is no room for it. */
export interface QuotaFull {
  /** Whose it is. */
  readonly of: "tenant" | "user";
  /** Which one. */
  readonly quota: keyof StartQuotas;
  /** What is used of it. */
  readonly used: number;
  /** What is allowed. */
  readonly most: number;
  /** When there is room again, in milliseconds since 1970; absent: when a run ends. */
  readonly retryAt?: number | undefined;
}

/** `known`: a run of that id is there already, and stays as it is. */
export type CreateOutcome = "created" | "known" | QuotaFull;

/** Which runs to list; a field that is absent leaves nothing out. */
export interface DurableRunFilter {
  /** Only this tenant's. */
  readonly tenant?: string | undefined;
  /** Only runs that stand in one of these ways. */
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
   * Only runs that wait, and whose worker may not know of it yet: a question of theirs was answered, or its time was over,
   * since a worker last took the run up (`take`); they are cancelled; or nothing is left to wait for.
   */
  readonly isOwed?: true | undefined;
  /** Newest first; those before this id. */
  readonly before?: string | undefined;
  /** How many at most. */
  readonly limit: number;
}

/** Which questions to list; a field that is absent leaves nothing out. */
export interface QuestionFilter {
  /** Only these. */
  readonly kinds?: readonly QuestionKind[] | undefined;
  /** Only this tenant's. */
  readonly tenant?: string | undefined;
  /** Only those of this run and of the runs that it started. */
  readonly rootId?: string | undefined;
  /** Only those that stand so. */
  readonly status?: QuestionStatus | undefined;
  /** Oldest first; those after this id. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit: number;
}

/**
 * Where durable runs are recorded. A `line` of the audit log is written together with what it tells of, and only if that is
 * done; a store without an audit log passes it over.
 */
export interface JournalStore {
  /** A run that is there already is never held to quotas. */
  create(run: NewDurableRun, line?: NewAuditLine, quotas?: RunQuotas): Promise<CreateOutcome>;
  /** `undefined`: there is none. */
  get(runId: string): Promise<DurableRun | undefined>;
  /** Newest first. */
  list(filter: DurableRunFilter): Promise<readonly DurableRun[]>;
  /** What root runs that have ended used, by their results: one sum for each day, skill or user, in the order of their names. */
  usage(filter: UsageFilter): Promise<readonly UsageSum[]>;
  /**
   * Makes the lease's holder the only one who may write to the root run and to all that it started. Throws `LeaseLostError`
   * when a later term has taken it already. Unless the run has ended, it stands as `running`. Gives it as it is then.
   */
  take(lease: JournalLease): Promise<DurableRun>;
  /**
   * Throws `LeaseLostError` when somebody else is the holder by now, and plain errors for a key that is there, for an event
   * whose number does not follow, and for a run that has ended; nothing of the batch is written then. A root run that ends
   * ends what it started, too: `cancelled`, with its questions.
   */
  write(lease: JournalLease, batch: JournalBatch): Promise<void>;
  /** A run that a run under this lease starts; the same id again is the same run. */
  createChild(lease: JournalLease, run: NewChildRun): Promise<void>;
  /** In the order in which they were written. */
  entries(runId: string): Promise<readonly JournalEntry[]>;
  /** All snapshots that runs need, each once. */
  snapshots(): Promise<readonly NeededSnapshot[]>;
  /** Those after `after`, in order. */
  events(runId: string, after: number, limit: number): Promise<readonly JournalEvent[]>;
  /** It is to end; whoever advances it sees this. `undefined`: there is none, or it has ended. */
  cancel(runId: string, line?: NewAuditLine): Promise<DurableRun | undefined>;
  /** Those of these that are to end. */
  cancelled(runIds: readonly string[]): Promise<readonly string[]>;
  /** `undefined`: there is none. */
  question(id: string): Promise<Question | undefined>;
  /** The question that a run asked under this key, answered or not. */
  questionFor(runId: string, key: string): Promise<Question | undefined>;
  /** Oldest first. */
  questions(filter: QuestionFilter): Promise<readonly Question[]>;
  /** Counted once, whoever answers and however often. */
  answer(id: string, answer: QuestionAnswer, line?: NewAuditLine): Promise<AnswerOutcome>;
  /** Those whose time is over become `expired`; gives them. */
  expireQuestions(now: number): Promise<readonly Question[]>;
  /** Everything of ended root runs, and of what they started, that was last touched before this time. */
  purge(before: number): Promise<number>;
  /** Everything of a root run, and of what it started, however it stands; nobody works on it. `false`: there is none. */
  forget(runId: string): Promise<boolean>;
  /** The snapshot that was taken last in this run, or in one that it started. `undefined`: there is none. */
  lastSnapshot(rootId: string): Promise<string | undefined>;
  /** How many root runs of these tenants (absent: of all) stand in each way. */
  countByStatus(tenant?: string): Promise<Readonly<Partial<Record<DurableStatus, number>>>>;
  /** Nothing can be read or written afterwards. */
  close(): Promise<void>;
}

/** Another worker holds the run now. Nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(rootId: string) {
    super(`The lease of run \`${rootId}\` was lost: another worker advances it now.`);
  }
}

/** What is read of it, also by processes that may write nothing. */
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
