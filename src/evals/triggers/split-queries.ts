/**
 * Queries in two parts: one to improve a description by, one to see whether it got better for others too. Both kinds of
 * queries are split alike, and the same query is always on the same side, in whatever order the file has them.
 */
import { createHash } from "node:crypto";
import type { TriggerQuery } from "../eval-set.ts";

export type QuerySet = "train" | "validation";

export interface SplitQuery extends TriggerQuery {
  readonly set: QuerySet;
}

const TRAIN_SHARE = 0.6;

export function splitQueries(queries: readonly TriggerQuery[], seed: number): readonly SplitQuery[] {
  const train = new Set([true, false].flatMap((kind) => chooseTrain(queries, kind, seed)));
  return queries.map((query) => ({ ...query, set: train.has(query) ? "train" : "validation" }));
}

function chooseTrain(queries: readonly TriggerQuery[], kind: boolean, seed: number): readonly TriggerQuery[] {
  const own = queries.filter(({ shouldTrigger }) => shouldTrigger === kind);
  const drawn = own
    .map((query) => ({ query, lot: drawLot(query, seed) }))
    .sort((a, b) => Buffer.compare(a.lot, b.lot));
  return drawn.slice(0, Math.round(own.length * TRAIN_SHARE)).map(({ query }) => query);
}

function drawLot({ query }: TriggerQuery, seed: number): Buffer {
  return createHash("sha256").update(`${seed}\n${query}`).digest();
}
