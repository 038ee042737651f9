/** `metier.runs`: the kept runs, for the program that started them: list, read and delete them, by user. */
import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import {
  type KeptRun,
  type KeptRunLog,
  type RunKeeping,
  type RunQuery,
  readRunId,
  viewRun,
} from "@metier/run/events";
import { kindOf } from "@metier/skills";

/** A time: a `Date`, milliseconds since 1970, or a string that `Date` parses, such as `2026-11-16`. */
export type Moment = Date | number | string;

/** Which runs to list: those that match every given field. */
export interface RunFilter extends Omit<RunQuery, "since" | "before"> {
  /** Started at or after this time. */
  readonly since?: Moment | undefined;
  /** Started before this time. */
  readonly before?: Moment | undefined;
}

/** Which runs to delete: at least one field is required, and runs must match all given fields. */
export type RunSelection = (
  | { readonly userId: string }
  | { readonly tenantId: string }
  | { readonly runId: string }
  | { readonly before: Moment }
) &
  RunConditions;

interface RunConditions {
  /** Of this user; with `tenantId`, only within that tenant. */
  readonly userId?: string | undefined;
  /** Of all users of this tenant. */
  readonly tenantId?: string | undefined;
  /** The run with this id. */
  readonly runId?: string | undefined;
  /** Started before this time. */
  readonly before?: Moment | undefined;
}

/** Who must own the run. */
export type RunOwner = Pick<RunConditions, "userId" | "tenantId">;

/**
 * The kept runs, wherever they are stored.
 *
 * @example
 * ```ts
 * const [newest] = await metier.runs.list({ userId: "ada", limit: 1 });
 * const log = newest && (await metier.runs.get(newest.runId));
 * const deleted = await metier.runs.delete({ before: "2026-01-01" });
 * ```
 */
export interface Runs {
  /** Newest first; chat turns and nested runs count as runs. */
  list(filter?: RunFilter): Promise<readonly KeptRun[]>;
  /** One run with its events; `undefined` if it isn't kept or isn't this user's. */
  get(runId: string, owner?: RunOwner): Promise<KeptRunLog | undefined>;
  /**
   * Deletes runs with their events and work folders, and returns how many. A run in progress in this process stays;
   * cancel it first.
   */
  delete(which: RunSelection): Promise<number>;
}

const FILTER: OptionKeys<RunFilter> = {
  userId: true,
  tenantId: true,
  skill: true,
  status: true,
  since: true,
  before: true,
  limit: true,
};
const OWNER: OptionKeys<RunOwner> = { userId: true, tenantId: true };
const SELECTION: OptionKeys<RunConditions> = { ...OWNER, runId: true, before: true };

/** `view`: only this user's runs exist, whatever is requested; without a tenant, only those without one. */
export function createRuns(keeping: RunKeeping, view?: RunOwner): Runs {
  const isSeen = (run: RunOwner): boolean =>
    view === undefined || (run.userId === view.userId && run.tenantId === view.tenantId);
  const get = async (runId: unknown, owner: RunOwner): Promise<KeptRunLog | undefined> => {
    const id = readRunId(runId);
    const events = id === undefined ? undefined : await keeping.read(id);
    const [first] = events ?? [];
    if (id === undefined || events === undefined || first?.type !== "run-started") return undefined;
    const isOwners = fitsOwner(first, owner) && isSeen(first);
    return isOwners ? describeRun(id, events) : undefined;
  };
  const list = async (query: RunQuery): Promise<readonly KeptRun[]> => {
    if (view === undefined) return keeping.list(query);
    const { userId = view.userId, tenantId = view.tenantId, limit } = query;
    const found = await keeping.list({ ...query, userId, tenantId, limit: undefined });
    return found.filter(isSeen).slice(0, limit);
  };
  return {
    async list(filter = {}) {
      checkKeys("runs.list", filter, FILTER);
      return list({
        ...readOwner(filter),
        skill: readText("skill", filter.skill),
        status: filter.status,
        since: readMoment("since", filter.since),
        before: readMoment("before", filter.before),
        limit: readLimit(filter.limit),
      });
    },
    async get(runId, owner = {}) {
      checkKeys("runs.get", owner, OWNER);
      return get(runId, readOwner(owner));
    },
    async delete(which: RunConditions = {}) {
      checkKeys("runs.delete", which, SELECTION);
      const owner = readOwner(which);
      const before = readMoment("before", which.before);
      const runId = readText("runId", which.runId);
      if ([owner.userId, owner.tenantId, before, runId].every((part) => part === undefined)) {
        throw new UsageError(
          "`runs.delete` needs `userId`, `tenantId`, `runId` or `before`: it never deletes all runs.",
        );
      }
      if (runId === undefined) {
        const found = await list({ ...owner, before });
        return found.length === 0 ? 0 : keeping.remove(found.map((run) => run.runId));
      }
      const id = readRunId(runId);
      if (id === undefined) return 0;
      const isFree = view === undefined && before === undefined && fitsOwner({}, owner);
      const run = isFree ? undefined : await get(id, owner);
      const fits = isFree || (run && (before === undefined || Date.parse(run.startedAt) < before.getTime()));
      return fits ? keeping.remove([id]) : 0;
    },
  };
}

/** Every requested field must match. */
function fitsOwner(run: RunOwner, { userId, tenantId }: RunOwner): boolean {
  return (
    (userId === undefined || run.userId === userId) && (tenantId === undefined || run.tenantId === tenantId)
  );
}

function readOwner({ userId, tenantId }: RunOwner): RunOwner {
  return { userId: readText("userId", userId), tenantId: readText("tenantId", tenantId) };
}

function describeRun(runId: string, events: readonly KeptRunLog["events"][number][]): KeptRunLog {
  const { state: status, startedAt, text, ...view } = viewRun(events);
  const { skill, model, source, trust, parentRunId, iterations, usage, cost, durationMs } = view;
  const { userId, tenantId } = view;
  const capabilityCalls = (view.capabilities ?? []).reduce((sum, { calls }) => sum + calls, 0) || undefined;
  const told = { skill, model, source, trust, parentRunId, iterations, usage, cost, durationMs };
  return { runId, status, startedAt, userId, tenantId, ...told, capabilityCalls, text, events };
}

/** A JavaScript program may pass anything, and a value that doesn't restrict would match all runs. */
function readText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new UsageError(`\`${name}\` is ${value === "" ? "empty" : kindOf(value)}; it must be a string.`);
}

function readMoment(name: string, value: unknown): Date | undefined {
  if (value === undefined) return undefined;
  const isKnown = value instanceof Date || typeof value === "number" || typeof value === "string";
  const moment = isKnown ? new Date(value) : undefined;
  if (moment && !Number.isNaN(moment.getTime())) return moment;
  throw new UsageError(
    `\`${name}\` is ${showValue(value instanceof Date ? "Invalid Date" : value)}, which is not a time.`,
    { hint: "Pass a `Date`, milliseconds since 1970, or a string such as `2026-11-16`." },
  );
}

function readLimit(limit: unknown): number | undefined {
  if (limit === undefined || (Number.isInteger(limit) && Number(limit) > 0))
    return limit as number | undefined;
  throw new UsageError(`\`limit\` is ${showValue(limit)}; it must be a whole number above 0.`);
}
