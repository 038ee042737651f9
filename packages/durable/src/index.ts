/** The exports of `@metier/durable`: the ports, and what all stores share. */
export { catchUp, TERMINAL_TENANT } from "./catch-up.ts";
export {
  type AnswerOutcome,
  type CreateOutcome,
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
  type QuotaFull,
  type RunQuotas,
  type StartQuotas,
} from "./journal-store.ts";
export type { BusNotice, NoticeBus } from "./notice-bus.ts";
export { isStoreAway } from "./postgres/faults.ts";
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
  EngineLimits,
  EngineWorker,
  EnqueueOptions,
  RunEngine,
  RunLease,
  TenantQueue,
  WorkOptions,
} from "./run-engine.ts";
export {
  DamagedSnapshotError,
  type SnapshotRefusal,
  type SnapshotScope,
  type SnapshotStore,
  type TenantSnapshots,
} from "./snapshot-store.ts";
export { boundToTenant, forAllTenants, forTenant, ownTenant, unbound } from "./tenant-scope.ts";
export type { UsageFilter, UsageSum } from "./usage.ts";
