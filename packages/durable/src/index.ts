/** What other packages may use of `@metier/durable`: the ports, and what is the same for every store. */
export { catchUp, TERMINAL_TENANT } from "./catch-up.ts";
export {
  type AnswerOutcome,
  type DurableRun,
  type DurableRunFilter,
  type DurableStatus,
  ENDED,
  type JournalBatch,
  type JournalEntry,
  type JournalEvent,
  type JournalLease,
  type JournalStore,
  LeaseLostError,
  type NeededSnapshot,
  type NewChildRun,
  type NewDurableRun,
  type NewQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionFilter,
  type QuestionKind,
  type QuestionStatus,
} from "./journal-store.ts";
export type {
  AuditLine,
  NewAuditLine,
  RecordKey,
  RecordStore,
  StoredRecord,
} from "./record-store.ts";
export type {
  AdvanceOutcome,
  EngineCounts,
  EngineWorker,
  RunEngine,
  RunLease,
  WorkOptions,
} from "./run-engine.ts";
export type { SnapshotRefusal, SnapshotScope, SnapshotStore } from "./snapshot-store.ts";
export type { UsageFilter, UsageSum } from "./usage.ts";
