/** The runs that are kept, newest first. Of each only the first and the last event are read. */
import { readdirSync } from "node:fs";
import type { Places } from "../host/places.ts";
import { readLogEnds } from "./read-log.ts";
import type { TokenUsage } from "./run-event.ts";
import { isRunId, runIdTime } from "./run-id.ts";
import { runFolder } from "./run-log.ts";
import { EMPTY_RUN_VIEW, type RunState, viewRun } from "./run-view.ts";

type RunPlaces = Pick<Places, "runs">;

export interface RunSummary {
  readonly runId: string;
  /** Empty when the log does not tell. */
  readonly skill: string;
  /** `unreadable`: there is no log, or its beginning is not readable. */
  readonly state: RunState | "unreadable";
  readonly startedAt: string;
  readonly model?: string;
  readonly source?: string;
  readonly trust?: string;
  readonly parentRunId?: string;
  readonly iterations: number;
  readonly usage: TokenUsage;
  readonly durationMs?: number;
  /** Absent: none. */
  readonly capabilityCalls?: number;
}

/** In the order of time, the newest first. */
export function listRunIds({ runs }: RunPlaces): readonly string[] {
  try {
    return readdirSync(runs).filter(isRunId).sort().reverse();
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return []; // Nothing has run yet.
    throw fault;
  }
}

export function listRuns(places: RunPlaces): readonly RunSummary[] {
  return listRunIds(places).map((runId) => summariseRun(places, runId));
}

function summariseRun(places: RunPlaces, runId: string): RunSummary {
  const { first, last } = readLogEnds(runFolder(places, runId).log) ?? {};
  const isReadable = first !== undefined;
  const events = [first, last?.type === "run-finished" ? last : undefined].filter(
    (event) => event !== undefined,
  );
  const view = isReadable ? viewRun(events) : EMPTY_RUN_VIEW;
  const { skill, state, model, source, trust, parentRunId, iterations, usage, durationMs } = view;
  const capabilityCalls = (view.capabilities ?? []).reduce((sum, { calls }) => sum + calls, 0);
  return {
    runId,
    skill,
    iterations,
    usage,
    state: isReadable ? state : "unreadable",
    startedAt: view.startedAt || new Date(runIdTime(runId)).toISOString(),
    ...(model !== undefined && { model }),
    ...(source !== undefined && { source }),
    ...(trust !== undefined && { trust }),
    ...(parentRunId !== undefined && { parentRunId }),
    ...(durationMs !== undefined && { durationMs }),
    ...(capabilityCalls > 0 && { capabilityCalls }),
  };
}
