/** The kept runs: lists them, counts them by skill, and removes old ones. */
import { readdirSync } from "node:fs";
import type { Diagnostic } from "@metier/base/diagnostic";
import { removeFolder } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { readLogEnds } from "./read-log.ts";
import type { RunEvent, TokenUsage } from "./run-event.ts";
import { isRunId, runFolder, runIdTime } from "./run-log.ts";
import { type RunState, viewRun } from "./run-view.ts";

type RunPlaces = Pick<Places, "runs">;

export interface RunSummary {
  /** The run's id. */
  readonly runId: string;
  /** Empty if the log doesn't say. */
  readonly skill: string;
  /** `unreadable`: there is no log, or its start can't be read. */
  readonly state: RunState | "unreadable";
  /** When it started, in ISO 8601. */
  readonly startedAt: string;
  /** Its first model; absent if the log doesn't say. */
  readonly model?: string | undefined;
  /** Who invoked it: `model`, `user` or `code`. */
  readonly source?: string | undefined;
  /** Whether the skill was trusted: `trusted` or `untrusted`. */
  readonly trust?: string | undefined;
  /** The run that started it; absent if none did. */
  readonly parentRunId?: string | undefined;
  /** The caller's; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** The user's tenant; absent: none. */
  readonly tenantId?: string | undefined;
  /** How many times the model was asked. */
  readonly iterations: number;
  /** The tokens it used. */
  readonly usage: TokenUsage;
  /** Absent: no price is known. */
  readonly cost?: number | undefined;
  /** How long it took; absent while it runs. */
  readonly durationMs?: number | undefined;
  /** Absent: none. */
  readonly capabilityCalls?: number | undefined;
}

/** Newest first. */
export function listRunIds({ runs }: RunPlaces): readonly string[] {
  try {
    return readdirSync(runs).filter(isRunId).sort().reverse();
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return []; // Nothing has run yet.
    throw fault;
  }
}

/** The kept runs, newest first. Reads only the first and last event of each. */
export function listRuns(places: RunPlaces): readonly RunSummary[] {
  return listRunIds(places).map((runId) => summariseRun(places, runId));
}

export function summariseRun(places: RunPlaces, runId: string): RunSummary {
  const { first, last } = readLogEnds(runFolder(places, runId).log) ?? {};
  return summariseEvents(runId, first, last);
}

/** From a run's first event and, once it has ended, its last. */
export function summariseEvents(runId: string, first?: RunEvent, last?: RunEvent): RunSummary {
  const isReadable = first !== undefined;
  const view = viewRun(isReadable ? [first, ...(last?.type === "run-finished" ? [last] : [])] : []);
  const {
    skill,
    state,
    model,
    source,
    trust,
    parentRunId,
    userId,
    tenantId,
    iterations,
    usage,
    cost,
    durationMs,
  } = view;
  const capabilityCalls = (view.capabilities ?? []).reduce((sum, { calls }) => sum + calls, 0);
  return {
    runId,
    skill,
    iterations,
    usage,
    cost,
    state: isReadable ? state : "unreadable",
    startedAt: view.startedAt || new Date(runIdTime(runId)).toISOString(),
    model,
    source,
    trust,
    parentRunId,
    userId,
    tenantId,
    durationMs,
    capabilityCalls: capabilityCalls || undefined,
  };
}

export interface SkillStats extends Readonly<Record<RunState, number>> {
  readonly skill: string;
  readonly runs: number;
  readonly iterations: number;
  readonly usage: TokenUsage;
  /** Absent: no price is known. */
  readonly cost?: number | undefined;
  /** Absent: none. */
  readonly capabilityCalls?: number | undefined;
  /** For runs that ended; absent if none did. */
  readonly durationMs?: { readonly median: number; readonly p95: number } | undefined;
  readonly lastStartedAt: string;
}

/** Most used first. Leaves out runs whose log doesn't name a skill. */
export function countRuns(runs: readonly RunSummary[]): readonly SkillStats[] {
  const named = runs.filter(({ state, skill }) => state !== "unreadable" && skill !== "");
  return [...Map.groupBy(named, ({ skill }) => skill)]
    .map(([skill, own]) => countSkill(skill, own))
    .sort((a, b) => b.runs - a.runs || compareText(a.skill, b.skill));
}

function countSkill(skill: string, runs: readonly RunSummary[]): SkillStats {
  const count = (state: RunState): number => runs.filter((run) => run.state === state).length;
  const sum = (of: (run: RunSummary) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const capabilityCalls = sum((run) => run.capabilityCalls ?? 0);
  const startTimes = runs.map(({ startedAt }) => startedAt).sort(compareText);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  /** The smallest value that at least this share doesn't exceed. */
  const share = (part: number): number => durations[Math.max(0, Math.ceil(durations.length * part) - 1)] ?? 0;
  return {
    skill,
    runs: runs.length,
    completed: count("completed"),
    limited: count("limited"),
    failed: count("failed"),
    refused: count("refused"),
    cancelled: count("cancelled"),
    unfinished: count("unfinished"),
    iterations: sum((run) => run.iterations),
    usage: {
      inputTokens: sum(({ usage }) => usage.inputTokens),
      outputTokens: sum(({ usage }) => usage.outputTokens),
      totalTokens: sum(({ usage }) => usage.totalTokens),
    },
    ...(costs.length > 0 && { cost: costs.reduce((total, cost) => total + cost, 0) }),
    ...(capabilityCalls > 0 && { capabilityCalls }),
    ...(durations.length > 0 && { durationMs: { median: share(0.5), p95: share(0.95) } }),
    lastStartedAt: startTimes.at(-1) ?? "",
  };
}

const HOUR_MS = 60 * 60 * 1000;
const KEPT_MS: number = 30 * 24 * HOUR_MS;

export interface RemovedRuns {
  readonly removed: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Those of this process, however they are kept: none is removed. */
export const runsUnderWay: Set<string> = new Set();

/** When this process last checked a folder. */
const lookedThrough = new Map<string, number>();

/** At the start of a run: once an hour, because it lists all runs. */
export function tidyRuns(places: RunPlaces, now: number = Date.now(), keptMs: number = KEPT_MS): void {
  if (now - (lookedThrough.get(places.runs) ?? 0) < HOUR_MS) return;
  lookedThrough.set(places.runs, now);
  removeOldRuns(places, keptMs, now);
}

/** Runs that started longer ago than this. */
export function removeOldRuns(
  places: RunPlaces,
  olderThanMs: number = KEPT_MS,
  now: number = Date.now(),
): RemovedRuns {
  const old = listRunIds(places).filter((id) => now - runIdTime(id) > olderThanMs && !runsUnderWay.has(id));
  return removeRuns(places, old);
}

/**
 * Runs are kept for thirty days. Old ones are removed when new ones start; any can be removed manually, with its work
 * folder.
 */
export function removeRuns(places: RunPlaces, ids: readonly string[]): RemovedRuns {
  const diagnostics: Diagnostic[] = [];
  const removed = ids.filter((id) => {
    const { folder } = runFolder(places, id);
    try {
      removeFolder(folder);
      return true;
    } catch (fault) {
      diagnostics.push(reportKept(id, folder, fault));
      return false;
    }
  });
  return { removed, diagnostics };
}

function reportKept(id: string, folder: string, fault: unknown): Diagnostic {
  const { code = "unknown error" } = fault as NodeJS.ErrnoException;
  const message = `Run \`${id}\` could not be removed: ${code}.`;
  const hint = "Make its files writable, then remove the folder.";
  return { code: "run.not-removed", severity: "warning", message, path: folder, hint };
}
