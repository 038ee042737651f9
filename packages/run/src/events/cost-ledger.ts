/**
 * Costs of runs whose logs aren't kept in files: one number per model answer, one file per day. So
 * `runs.max-cost-per-day` applies across processes even if nothing else of a run is kept.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Places } from "@metier/base/places";
import type { RunSink } from "./run-recorder.ts";

type LedgerPlaces = Pick<Places, "state">;

/** `now` determines the user's day. */
function ledgerFile({ state }: LedgerPlaces, now: Date): string {
  const [month, day] = [now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
  return join(state, "costs", `${now.getFullYear()}-${month}-${day}.txt`);
}

export function openCostLedger(places: LedgerPlaces): RunSink {
  return {
    name: "cost ledger",
    write(event) {
      if (event.type !== "model-answered" || !event.cost) return;
      const file = ledgerFile(places, new Date(event.at));
      if (statSync(file, { throwIfNoEntry: false }) === undefined) beginDay(file);
      appendFileSync(file, `${event.cost}\n`, { mode: 0o600 });
    },
  };
}

/** Past days are no longer needed. */
function beginDay(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    if (/^\d{4}-\d\d-\d\d\.txt$/.test(name) && join(folder, name) < file)
      rmSync(join(folder, name), { force: true });
  }
}

const known = new Map<string, { readonly size: number; readonly cost: number }>();

/** For the day that starts at `since`, in milliseconds. */
export function countLedger(places: LedgerPlaces, since: number): number {
  const file = ledgerFile(places, new Date(since));
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return 0;
  const before = known.get(file);
  if (before?.size === size) return before.cost;
  const lines = readFileSync(file, "utf8").split("\n");
  const cost = lines.reduce((sum, line) => sum + (Number.parseFloat(line) || 0), 0);
  known.clear(); // Only one day of one home is queried at a time.
  known.set(file, { size, cost });
  return cost;
}
