/** Runs are kept for thirty days. Old ones go when new ones start; any can be removed by hand, with its work folder. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { listRunIds } from "./list-runs.ts";
import { runIdTime } from "./run-id.ts";
import { runFolder } from "./run-log.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
export const KEPT_MS: number = 30 * DAY_MS;

export interface RemovedRuns {
  readonly removed: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

type RunPlaces = Pick<Places, "runs">;

const HOUR_MS = 60 * 60 * 1000;
/** When a folder was looked through by this process. */
const lookedThrough = new Map<string, number>();

/** At the start of a run: once an hour, because all runs are listed for it. */
export function tidyRuns(places: RunPlaces, now: number = Date.now()): void {
  if (now - (lookedThrough.get(places.runs) ?? 0) < HOUR_MS) return;
  lookedThrough.set(places.runs, now);
  removeOldRuns(places, KEPT_MS, now);
}

/** Those that began longer ago than this. */
export function removeOldRuns(
  places: RunPlaces,
  olderThanMs: number = KEPT_MS,
  now: number = Date.now(),
): RemovedRuns {
  return removeRuns(
    places,
    listRunIds(places).filter((id) => now - runIdTime(id) > olderThanMs),
  );
}

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
  const { code = "unknown fault" } = fault as NodeJS.ErrnoException;
  return {
    code: "run.not-removed",
    severity: "warning",
    message: `Run \`${id}\` could not be removed: the system says ${code}.`,
    path: folder,
    hint: "Make its files writable, then remove the folder.",
  };
}
