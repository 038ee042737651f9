/** Runs are kept for thirty days. Old ones go when a new one starts; any can be removed by hand, with its work folder. */
import { rmSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
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
      rmSync(folder, { recursive: true, force: true });
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
