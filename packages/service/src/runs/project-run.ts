/** A run as the API shows it: its result once it has ended, and before that how it stands. */

import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { type DurableRun, ENDED } from "@metier/durable";
import { type EventProjection, withoutPlaces } from "./project-event.ts";
import { isOnlySeen } from "./seen-runs.ts";

/** Short, for lists. */
export function summarizeRun(run: DurableRun): JsonObject {
  const result = isJsonObject(run.result) ? run.result : {};
  return {
    id: run.id,
    status: run.status,
    ...pick("skill", run.skill),
    ...pick("userId", run.userId),
    ...pick("parent", run.parentId),
    createdAt: new Date(run.createdAt).toISOString(),
    updatedAt: new Date(run.updatedAt).toISOString(),
    activeMs: run.activeMs,
    events: run.lastEvent,
    ...(run.isCancelled && !ENDED.has(run.status) && { isCancelled: true }),
    ...pick("usage", result.usage),
    ...pick("cost", result.cost),
    ...(isOnlySeen(run) && { origin: "kept" }),
  };
}

/** The whole result, without places of the server. `id` and `status` are the journal's. */
export function showRun(run: DurableRun, projection: EventProjection): JsonObject {
  const result = isJsonObject(run.result) ? (projection.value(run.result) as JsonObject) : {};
  const { sandbox, diagnostics } = result;
  return {
    ...result,
    ...(sandbox !== undefined && { sandbox: withoutPlaces(sandbox) }),
    ...(Array.isArray(diagnostics) && { diagnostics: diagnostics.map(withoutPath) }),
    runId: run.id,
    ...summarizeRun(run),
  };
}

/** Of a diagnostic: what it says stays, where it is on the server goes. */
function withoutPath(diagnostic: Json): Json {
  if (!isJsonObject(diagnostic)) return diagnostic;
  return Object.fromEntries(Object.entries(diagnostic).filter(([name]) => name !== "path"));
}

function pick(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
