/** `ListTasks`: runs as tasks, newest first, of the tenant or of one conversation. */
import type { Json, JsonObject } from "@metier/base/json";
import { done } from "@metier/base/result";
import { flagShape, jsonShape, recordShape, textShape } from "@metier/base/shape";
import type { DurableStatus } from "@metier/durable";
import { refuseRequest } from "../../http/refusal.ts";
import { findRun } from "../../routes/find-run.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { type Outcome, readMethodParams, readTask } from "./a2a-methods.ts";
import { INPUT_REQUIRED, STATES } from "./show-task.ts";

interface ListParams {
  readonly pageToken?: string;
  readonly pageSize?: Json;
  readonly status?: string;
  readonly contextId?: string;
  readonly includeArtifacts?: boolean;
  readonly statusTimestampAfter?: string;
}

const listShape = recordShape<ListParams>(
  {
    pageToken: textShape,
    pageSize: jsonShape,
    status: textShape,
    contextId: textShape,
    includeArtifacts: flagShape,
    statusTimestampAfter: textShape,
  },
  ["pageToken", "pageSize", "status", "contextId", "includeArtifacts", "statusTimestampAfter"],
);
const PAGE = 50;
const MOST_PAGE = 100;
const UNSPECIFIED = "TASK_STATE_UNSPECIFIED";

/** Ids of runs, the token of the next page (empty: there is none), and how many there are on all pages. */
interface Listed {
  readonly ids: readonly string[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

interface Wanted {
  readonly limit: number;
  readonly after: string | undefined;
  /** All without it. */
  readonly statuses: readonly DurableStatus[] | undefined;
}

export async function listTasks(
  asking: InnerRequest,
  context: ServiceContext,
  params: Json | undefined,
): Promise<Outcome<JsonObject>> {
  const read = readMethodParams(listShape, params);
  if (!read.ok) return read;
  const { pageToken, status, contextId, pageSize, includeArtifacts = false } = read.value;
  if (read.value.statusTimestampAfter)
    return refuseRequest(
      "Metier can't list tasks by `statusTimestampAfter`.",
      "Leave it out: the newest tasks come first.",
    );
  const limit = pageSize ? Number(pageSize) : PAGE;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_PAGE)
    return refuseRequest(
      `\`pageSize\` is not between 1 and ${MOST_PAGE}.`,
      "Use a whole number in that range.",
    );
  const statuses = readState(status);
  if (!statuses.ok) return statuses;
  const wanted = { limit, after: pageToken || undefined, statuses: statuses.value };
  const listed = contextId
    ? await listContext(asking, context, contextId, wanted)
    : await listTenant(asking, context, wanted);
  if (!listed.ok) return listed;
  const { ids, ...page } = listed.value;
  const found = await Promise.all(ids.map((id) => findRun(context, asking.identity, id)));
  const tasks = await Promise.all(
    found.flatMap((run) => (run.ok ? [readTask(asking, context, run.value)] : [])),
  );
  const shown = tasks.flatMap((task) => (task.ok ? [task.value] : []));
  const kept = includeArtifacts ? shown : shown.map(({ artifacts: _, ...task }) => task);
  return done({ tasks: kept, pageSize: limit, ...page });
}

async function listTenant(
  asking: InnerRequest,
  context: ServiceContext,
  { limit, after, statuses }: Wanted,
): Promise<Outcome<Listed>> {
  const query = { limit, after, status: statuses?.join(",") };
  const listed = await askRoute("GET /v1/runs", asking, context, { query });
  if (!listed.ok) return listed;
  const counts = await context.journal.countByStatus(asking.identity.tenant);
  const counted = statuses ?? (Object.keys(counts) as DurableStatus[]);
  return done({
    ids: idsOf(listed.value.data, "id"),
    nextPageToken: typeof listed.value.next === "string" ? listed.value.next : "",
    totalSize: counted.reduce((sum, status) => sum + (counts[status] ?? 0), 0),
  });
}

/** A context that the caller's tenant does not have has no tasks. */
async function listContext(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
  { limit, after, statuses }: Wanted,
): Promise<Outcome<Listed>> {
  const listed = await askRoute("GET /v1/sessions/{id}/messages", asking, context, { params: { id } });
  if (!listed.ok && listed.refusal.status !== 404) return listed;
  const said = listed.ok ? (listed.value.data as readonly JsonObject[]) : [];
  const matching = said.filter(({ status }) => statuses?.includes(status as DurableStatus) ?? true);
  const all = idsOf(matching, "run").toReversed();
  if (after !== undefined && !all.includes(after))
    return refuseRequest("`pageToken` is not one of this list.", "Use `nextPageToken` of the page before.");
  const rest = after === undefined ? all : all.slice(all.indexOf(after) + 1);
  const ids = rest.slice(0, limit);
  return done({ ids, nextPageToken: rest.length > limit ? (ids.at(-1) ?? "") : "", totalSize: all.length });
}

function idsOf(data: Json | undefined, field: string): readonly string[] {
  return (data as readonly JsonObject[]).map((item) => String(item[field]));
}

/** The statuses of runs that a state of tasks stands for; `undefined`: all. */
function readState(state = UNSPECIFIED): Outcome<readonly DurableStatus[] | undefined> {
  if (state === UNSPECIFIED || state === "") return done(undefined);
  // A run that waits is shown as one that needs input.
  const known = (Object.keys(STATES) as DurableStatus[]).filter(
    (status) => STATES[status] === state && status !== "waiting",
  );
  const wanted: readonly DurableStatus[] = state === INPUT_REQUIRED ? ["waiting"] : known;
  if (wanted.length > 0) return done(wanted);
  return refuseRequest("No task is ever in that `status`.", "Leave `status` out, or use another state.");
}
