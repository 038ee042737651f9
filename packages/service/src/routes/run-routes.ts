/** Runs: start, list, read, cancel. Routes for their events and files are in the files next to this one. */
import { done, type Result } from "@metier/base/result";
import {
  choiceShape,
  describedShape,
  jsonShape,
  listShape,
  refuseShape,
  type Shape,
  tableShape,
  testedShape,
  textOrShape,
} from "@metier/base/shape";
import { type DurableStatus, ENDED } from "@metier/durable";
import { DEFAULT_PAGE, type PageQuery, pageAnswer, pageFields } from "../http/page.ts";
import {
  amountText,
  boundedText,
  NUMBER_FIELD,
  numberText,
  objectOf,
  TEXT_FIELD,
  TIME_FIELD,
  timeText,
} from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseRequest } from "../http/refusal.ts";
import { defineRoute, type RouteRequest, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import { holdsScope } from "../keys/scopes.ts";
import { orderRun, type RunWish } from "../runs/order-run.ts";
import { openProjection } from "../runs/project-event.ts";
import { showRun, summarizeRuns } from "../runs/project-run.ts";
import { type RunSearch, searchRuns } from "../runs/search-runs.ts";
import { findRun, refuseElsewhere } from "./find-run.ts";

const STATUSES = [
  "queued",
  "running",
  "waiting",
  "completed",
  "limited",
  "failed",
  "refused",
  "cancelled",
] as const satisfies readonly DurableStatus[];

const GROUP = "runs";
const MOST_TEXT = 500_000;
const MOST_PRIORITY = 10;
const text = boundedText(MOST_TEXT);

/** The fields of every request that starts runs. */
export const wishFields = {
  skill: boundedText(256, 1),
  message: text,
  arguments: textOrShape(text, listShape(text), "a string, or a list of strings"),
  input: jsonShape,
  agent: boundedText(80, 1),
  approve: choiceShape("ask", "allow"),
  priority: testedShape(
    (value): value is number => Number.isInteger(value) && Math.abs(Number(value)) <= MOST_PRIORITY,
    `a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`,
  ),
};

const startShape = tableShape<RunWish>(wishFields, ["skill"]);

const statusSchema = { enum: [...STATUSES] };
const runSchema = objectOf(
  {
    id: TEXT_FIELD,
    status: statusSchema,
    skill: TEXT_FIELD,
    createdAt: TIME_FIELD,
    updatedAt: TIME_FIELD,
    activeMs: NUMBER_FIELD,
    events: NUMBER_FIELD,
    agent: TEXT_FIELD,
    model: TEXT_FIELD,
    trust: TEXT_FIELD,
    cost: NUMBER_FIELD,
    text: TEXT_FIELD,
    usage: { type: "object" },
    digest: TEXT_FIELD,
    children: { type: "array", items: { type: "object" } },
  },
  ["id", "status", "createdAt", "updatedAt"],
);

/** `waiting`, or several separated by commas. */
const statusList: Shape<readonly DurableStatus[]> = describedShape<readonly DurableStatus[]>(
  () => ({ type: "string", description: `One or more of ${STATUSES.join(", ")}, separated by commas.` }),
  (value, place) => {
    const words = typeof value === "string" ? value.split(",") : [];
    const known = STATUSES.filter((status) => words.includes(status));
    return known.length === words.length && known.length > 0
      ? known
      : refuseShape(value, place, `one or more of ${STATUSES.join(", ")}, separated by commas`);
  },
);

type ListQuery = Omit<RunSearch, "tenant" | "limit" | "before"> & PageQuery;
const MOST_LISTED = 1_000;

/** `allow` answers every question of the run in advance, so it needs the right to answer them. */
export function checkApprove(
  { scopes }: RouteRequest<unknown, unknown>["identity"],
  approve: RunWish["approve"],
): Result<undefined, HttpRefusal> {
  if (approve !== "allow" || holdsScope(scopes, "approve")) return done(undefined);
  return refuse(
    403,
    "scope_missing",
    'This key cannot start runs with `approve: "allow"`: it lacks the scope `approve`.',
    "Leave `approve` out so that the run asks, or use a key with the scope `approve`.",
  );
}

const startRun = defineRoute<Record<never, never>, RunWish>({
  method: "POST",
  path: "/v1/runs",
  scope: "run",
  group: GROUP,
  summary: "Start a run of a skill.",
  headers: { "Idempotency-Key": "The same key and body return the same run; 1 to 255 characters." },
  body: startShape,
  answers: {
    201: {
      about: "The run: new, or the one this idempotency key already started.",
      schema: objectOf({ id: TEXT_FIELD, status: statusSchema }),
    },
  },
  async handle({ body, headers, identity }, context) {
    const allowed = checkApprove(identity, body.approve);
    if (!allowed.ok) return allowed;
    const key = headers.get("idempotency-key") ?? undefined;
    if (key !== undefined && (key.length === 0 || key.length > 255)) {
      return refuseRequest(
        "`Idempotency-Key` must have 1 to 255 characters.",
        "Shorten it, or leave it out.",
      );
    }
    const ordered = await orderRun(context, identity, body, {
      idempotencyKey: key === undefined ? undefined : `client/${key}`,
    });
    if (!ordered.ok) return ordered;
    const { id, status } = ordered.value;
    return replyWith({ id, status }, 201);
  },
});

const listRuns = defineRoute<ListQuery>({
  method: "GET",
  path: "/v1/runs",
  scope: "read",
  group: GROUP,
  summary: "List runs, newest first.",
  query: tableShape<ListQuery>({
    status: statusList,
    skill: boundedText(256),
    userId: boundedText(256),
    agent: boundedText(80, 1),
    since: timeText,
    until: timeText,
    minCost: amountText,
    ...pageFields,
    limit: numberText(1, MOST_LISTED),
  }),
  answers: pageAnswer("runs", runSchema),
  async handle({ query: { after, limit = DEFAULT_PAGE, ...filter }, identity: { tenant } }, { journal }) {
    const { runs, next } = await searchRuns(journal, { tenant, ...filter, before: after, limit });
    const data = await summarizeRuns(journal, runs);
    return replyWith({ data, ...(next !== undefined && { next }) });
  },
});

const readRun = defineRoute({
  method: "GET",
  path: "/v1/runs/{id}",
  scope: "read",
  group: GROUP,
  summary: "Get a run: its status, and its result once it has ended.",
  answers: { 200: { about: "The run.", schema: runSchema } },
  async handle({ identity, param }, context) {
    const run = await findRun(context, identity, param("id"));
    if (!run.ok) return run;
    const projection = await openProjection(context.journal, run.value.id, context.hiddenFolders);
    return replyWith(await showRun(run.value, projection, context.journal));
  },
});

const cancelRun = defineRoute({
  method: "POST",
  path: "/v1/runs/{id}/cancel",
  scope: "run",
  group: GROUP,
  summary: "Cancel a run. Its processes are stopped; its effects remain.",
  answers: {
    202: {
      about: "The run will end; follow its events.",
      schema: objectOf({ id: TEXT_FIELD, status: statusSchema }),
    },
  },
  async handle({ identity, param }, context) {
    const found = await findRun(context, identity, param("id"));
    if (!found.ok) return found;
    const { rootId } = found.value;
    const elsewhere = await refuseElsewhere(context, rootId);
    if (elsewhere) return elsewhere;
    if (rootId !== found.value.id) {
      const message = `Run \`${found.value.id}\` is part of run \`${rootId}\`, which is waiting for it.`;
      return refuse(409, "part_of_run", message, `Cancel \`${rootId}\`.`);
    }
    const line = tellOf(identity, "run.cancelled", found.value.id);
    const run = await context.journal.cancel(found.value.id, line);
    if (run === undefined) {
      const { status = found.value.status } = (await context.journal.get(found.value.id)) ?? {};
      const message = `Run \`${found.value.id}\` has already ended: ${status}.`;
      return refuse(409, "run_ended", message, "Only an unfinished run can be cancelled.");
    }
    await context.engine.wake(run.rootId);
    return replyWith({ id: run.id, status: run.status, isCancelled: !ENDED.has(run.status) }, 202);
  },
});

export const RUN_ROUTES: readonly ServiceRoute[] = [startRun, listRuns, readRun, cancelRun];
