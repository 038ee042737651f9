/** What other packages may use of `@metier/durable`: the ports, and what is the same for every store. */
export { catchUp } from "./catch-up.ts";
export {
  type AnswerOutcome,
  type DurableRun,
  type DurableStatus,
  ENDED,
  type JournalBatch,
  type JournalEvent,
  type JournalLease,
  type JournalStore,
  LeaseLostError,
  type NewDurableRun,
  type NewQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionStatus,
} from "./journal-store.ts";
export type {
  AuditLine,
  RecordKey,
  RecordStore,
  StoredRecord,
} from "./record-store.ts";
export type { AdvanceOutcome, EngineWorker, RunEngine, RunLease } from "./run-engine.ts";
export type { SnapshotStore } from "./snapshot-store.ts";
