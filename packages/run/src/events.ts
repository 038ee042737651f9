/** The exports of `@metier/run/events`. */
export type { ClientEvent } from "./events/client-event.ts";
export { createPathHider, NESTED_TOO_DEEPLY, type PathHider } from "./events/hide-paths.ts";
export { type KeptChat, listKeptChats } from "./events/kept-chats.ts";
export {
  countRuns,
  listRunIds,
  listRuns,
  type RemovedRuns,
  type RunSummary,
  removeOldRuns,
  removeRuns,
  type SkillStats,
} from "./events/kept-runs.ts";
export { parseEventLines, readLogEnds, readRunLog } from "./events/read-log.ts";
export type {
  CapabilityCall,
  CapabilityUse,
  RunEvent,
  RunEventBody,
  RunLimit,
  RunStatus,
  TokenUsage,
} from "./events/run-event.ts";
export { EVENT_VERSION } from "./events/run-event.ts";
export { openKeeping, type RunKeeping, type RunsOptions, readRunId } from "./events/run-keeping.ts";
export {
  createRunId,
  openRunLog,
  type Recording,
  readRecording,
  runFolder,
  runIdTime,
} from "./events/run-log.ts";
export { type RunSink, redactEvent } from "./events/run-recorder.ts";
export type { KeptRun, KeptRunLog, RunQuery, RunStore } from "./events/run-store.ts";
export {
  type HookView,
  type RunState,
  type RunView,
  type StepView,
  type ToolCallView,
  viewRun,
} from "./events/run-view.ts";
export type { SavedChat } from "./events/saved-chat.ts";
