/** `metier/durable`: runs that survive their process, on one machine or on a store and an engine of the program. */
export {
  type AdvanceOutcome,
  type AnswerOutcome,
  type DurableRun,
  type DurableRunFilter,
  type DurableStatus,
  type EngineCounts,
  type EngineWorker,
  type JournalBatch,
  type JournalEntry,
  type JournalEvent,
  type JournalLease,
  type JournalStore,
  LeaseLostError,
  type NeededSnapshot,
  type NewAuditLine,
  type NewChildRun,
  type NewDurableRun,
  type NewQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionFilter,
  type QuestionKind,
  type QuestionStatus,
  type RunEngine,
  type RunLease,
  type SnapshotScope,
  type SnapshotStore,
  type WorkOptions,
} from "@metier/durable";
export { type LocalDurability, type LocalFolder, openLocal } from "@metier/durable/local";
export type { RunOrder, TurnOrder } from "@metier/run";
export type { DurabilityOptions, DurableRunOptions, DurableRuns, WorkerOptions } from "@metier/runtime";
