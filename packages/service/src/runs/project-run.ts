/** A run as the API shows it: its status, and its result once it has ended. */

import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { type DurableRun, ENDED, type JournalStore } from "@metier/durable";
import { type EventProjection, withoutPlaces } from "./project-event.ts";
import { isOnlySeen } from "./seen-runs.ts";

/** Short, for lists. Before a run has ended, only its first event says what it runs with. */
export async function summarizeRuns(
  journal: Pick<JournalStore, "events">,
  runs: readonly DurableRun[],
): Promise<readonly JsonObject[]> {
  return Promise.all(
    runs.map(async (run) => summarizeRun(run, run.result === undefined ? await readStart(journal, run) : {})),
  );
}

/** A run's first event; nothing if it hasn't started. */
async function readStart(
  journal: Pick<JournalStore, "events">,
  { id, lastEvent }: DurableRun,
): Promise<JsonObject> {
  if (lastEvent === 0) return {};
  const [first] = await journal.events(id, 0, 1);
  return isJsonObject(first?.event) ? first.event : {};
}

function summarizeRun(run: DurableRun, start: JsonObject): JsonObject {
  const result = isJsonObject(run.result) ? run.result : {};
  const { agent } = pinnedOf(run);
  return {
    id: run.id,
    status: run.status,
    ...pick("skill", run.skill),
    ...pick("agent", agent),
    ...pick("userId", run.userId),
    ...pick("parent", run.parentId),
    ...pick("model", result.model || start.model || run.order.model),
    ...pick("trust", result.trust ?? start.trust),
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

/** What the service stored next to the order. */
export function pinnedOf({ order: { service } }: Pick<DurableRun, "order">): JsonObject {
  return isJsonObject(service) ? (service as JsonObject) : {};
}

const MOST_CHILDREN = 500;

/** The whole result, without server paths, with the runs it started. `id` and `status` come from the journal. */
export async function showRun(
  run: DurableRun,
  projection: EventProjection,
  journal: Pick<JournalStore, "events" | "list">,
): Promise<JsonObject> {
  const { tenant, rootId } = run;
  const family = await journal.list({ tenant, rootId, isRoot: false, limit: MOST_CHILDREN });
  const children = family.filter(({ parentId }) => parentId === run.id).toReversed();
  const start = await readStart(journal, run);
  const result = isJsonObject(run.result) ? (projection.value(run.result) as JsonObject) : {};
  const { sandbox, diagnostics } = result;
  return {
    ...result,
    ...(sandbox !== undefined && { sandbox: withoutPlaces(sandbox) }),
    ...(Array.isArray(diagnostics) && { diagnostics: diagnostics.map(withoutPath) }),
    runId: run.id,
    ...summarizeRun(run, start),
    ...pick("digest", start.digest ?? pinnedOf(run).skillVersion),
    children: await summarizeRuns(journal, children),
  };
}

/** For a diagnostic: keeps the message, removes its place on the server. */
function withoutPath(diagnostic: Json): Json {
  if (!isJsonObject(diagnostic)) return diagnostic;
  return Object.fromEntries(Object.entries(diagnostic).filter(([name]) => name !== "path"));
}

function pick(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
