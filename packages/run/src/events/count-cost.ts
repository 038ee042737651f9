/**
 * What kept runs have cost since a given time, from their logs. A run that ended has it in its last line; others are
 * read completely.
 */
import { statSync } from "node:fs";
import type { Places } from "@metier/base/places";
import { listRunIds } from "./kept-runs.ts";
import { readLogEnds, readRunLog } from "./read-log.ts";
import { runFolder, runIdTime } from "./run-log.ts";

interface LoggedCost {
  /** Of the log when it was read: logs only grow. */
  readonly size: number;
  readonly parentRunId?: string | undefined;
  readonly hasEnded: boolean;
  /** For a run that ended: including the runs it started. Otherwise: only its own. */
  readonly cost: number;
}

/** Logs that this process has read, by file. */
const MOST_KNOWN = 10_000;
const known = new Map<string, LoggedCost>();

/** Runs that started at `since`, in milliseconds, or later. */
export function countCost(places: Pick<Places, "runs">, since: number): number {
  const ids = listRunIds(places).filter((id) => runIdTime(id) >= since);
  const logs = new Map(ids.map((id) => [id, readCost(runFolder(places, id).log)]));
  const isCounted = ({ parentRunId }: LoggedCost): boolean =>
    parentRunId !== undefined && logs.get(parentRunId)?.hasEnded === true;
  return [...logs.values()].reduce((sum, log) => sum + (log && !isCounted(log) ? log.cost : 0), 0);
}

/** `undefined`: there is no log yet, or it can't be read. */
function readCost(file: string): LoggedCost | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  const before = known.get(file);
  if (before?.size === size) return before;
  const { first, last } = readLogEnds(file) ?? {};
  if (first?.type !== "run-started") return undefined;
  const { parentRunId } = first;
  const ended = last?.type === "run-finished" ? last : undefined;
  const cost = ended ? (ended.cost ?? 0) : sumAnswers(file);
  if (known.size >= MOST_KNOWN) known.clear();
  const read = { size, parentRunId, hasEnded: ended !== undefined, cost };
  known.set(file, read);
  return read;
}

function sumAnswers(file: string): number {
  const read = readRunLog(file);
  if (!read.ok) return 0;
  return read.value.events.reduce(
    (sum, event) => sum + (event.type === "model-answered" ? (event.cost ?? 0) : 0),
    0,
  );
}
