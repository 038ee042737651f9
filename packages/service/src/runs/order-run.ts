/**
 * A wish becomes a run: the skill and the agent are resolved and pinned, the run is written, and then it is queued. Each
 * step may be done twice without harm, so that a request that is repeated, or cut by a kill, makes one run.
 */
import { createHash } from "node:crypto";
import { canonicalText, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { fitShape, recordShape, textShape } from "@metier/base/shape";
import { nearestNames, showNames } from "@metier/base/text";
import type { DurableStatus } from "@metier/durable";
import { createRunId } from "@metier/run/events";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import { findAgent } from "./agent-versions.ts";

/** What a client, a session or a schedule asks for. */
export interface RunWish {
  readonly skill: string;
  readonly message?: string | undefined;
  readonly arguments?: string | readonly string[] | undefined;
  readonly input?: Json | undefined;
  /** `name`, or `name@version`. */
  readonly agent?: string | undefined;
  readonly approve?: "ask" | "allow" | undefined;
}

/** The turn of a session: what was said before it. */
export interface TurnWish extends RunWish {
  readonly session?: string | undefined;
  readonly history?: readonly JsonObject[] | undefined;
}

/** Whom it is for. */
export interface RunOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
}

export interface OrderedRun {
  readonly id: string;
  readonly status: DurableStatus;
  /** `false`: an earlier request with the same idempotency key has made it. */
  readonly isNew: boolean;
}

const IDEMPOTENCY = "idempotency";
const idempotencyShape = recordShape<{ readonly runId: string; readonly digest: string }>({
  runId: textShape,
  digest: textShape,
});

/** How the run gets its id: a new one, one that was written elsewhere before, or the one that the key stands for. */
interface RunNaming {
  readonly id?: string;
  readonly idempotencyKey?: string | undefined;
}

export async function orderRun(
  context: ServiceContext,
  owner: RunOwner,
  wish: TurnWish,
  { id: given, idempotencyKey }: RunNaming = {},
): Promise<Result<OrderedRun, HttpRefusal>> {
  const kept = await recallOrder(context, owner, wish, idempotencyKey);
  if (!kept.ok) return kept;
  const before = given ?? kept.value;
  const known = before === undefined ? undefined : await context.journal.get(before);
  if (known !== undefined) {
    // It may have been written by a process that was killed before it could queue it.
    if (known.status === "queued") await context.engine.enqueue(known.id);
    return done({ id: known.id, status: known.status, isNew: false });
  }
  const order = await makeOrder(context, owner, wish);
  if (!order.ok) return order;
  const id = given === undefined ? await keepOrder(context, owner, wish, idempotencyKey) : done(given);
  if (!id.ok) return id;
  const { tenant, userId } = owner;
  const isNew = await context.journal.create({
    id: id.value,
    tenant,
    userId,
    skill: wish.skill,
    order: order.value,
  });
  await context.engine.enqueue(id.value);
  if (isNew) context.metrics.count("metier_runs_started_total");
  return done({ id: id.value, status: "queued", isNew });
}

async function makeOrder(
  { shelf, records }: ServiceContext,
  { tenant, userId }: RunOwner,
  wish: TurnWish,
): Promise<Result<JsonObject, HttpRefusal>> {
  const skills = await shelf.list(tenant);
  const skill = skills.find(({ name }) => name === wish.skill);
  if (skill === undefined) {
    const near = nearestNames(
      wish.skill,
      skills.map(({ name }) => name),
    );
    const hint = near.length > 0 ? `Did you mean ${showNames(near)}?` : "`GET /v1/skills` lists all skills.";
    return refuse(422, "unknown_skill", `No skill is called \`${wish.skill.slice(0, 80)}\`.`, hint);
  }
  const agent = wish.agent === undefined ? undefined : await findAgent(records, tenant, wish.agent);
  if (wish.agent !== undefined && agent === undefined) {
    const message = `No agent is called \`${wish.agent.slice(0, 80)}\`, or it has no such version.`;
    return refuse(
      422,
      "unknown_agent",
      message,
      "`GET /v1/agents` lists all agents; write `name` or `name@version`.",
    );
  }
  return done(
    presentFields({
      kind: "skill",
      skill: wish.skill,
      version: skill.current,
      message: wish.message,
      arguments: wish.arguments,
      input: wish.input,
      agent: agent && `${agent.name}@${agent.version}`,
      agentDefinition: agent?.definition,
      approve: wish.approve ?? "ask",
      userId,
      tenantId: tenant === DEFAULT_TENANT ? undefined : tenant,
      session: wish.session,
      history: wish.history,
    }) as JsonObject,
  );
}

/** The id that the key stands for already. The same key for another wish is refused. */
async function recallOrder(
  { records }: ServiceContext,
  { tenant }: RunOwner,
  wish: TurnWish,
  key: string | undefined,
): Promise<Result<string | undefined, HttpRefusal>> {
  if (key === undefined) return done(undefined);
  const stored = await records.get({ tenant, kind: IDEMPOTENCY, id: digest(key) });
  const body = stored && fitShape(idempotencyShape, stored.body);
  if (body === undefined) return done(undefined);
  if (body.digest === digest(canonicalText(wish))) return done(body.runId);
  return refuse(
    409,
    "idempotency_conflict",
    `The idempotency key was used for another request, which made run \`${body.runId}\`.`,
    "Use a new `Idempotency-Key` for each different request.",
  );
}

/** The id of the run: written before the run itself, so that of two equal requests at once both name the same run. */
async function keepOrder(
  context: ServiceContext,
  owner: RunOwner,
  wish: TurnWish,
  key: string | undefined,
): Promise<Result<string, HttpRefusal>> {
  const runId = createRunId(context.now());
  if (key === undefined) return done(runId);
  const place = { tenant: owner.tenant, kind: IDEMPOTENCY, id: digest(key) };
  const stored = await context.records.put(place, { runId, digest: digest(canonicalText(wish)) }, 0);
  if (stored !== undefined) return done(runId);
  const other = await recallOrder(context, owner, wish, key);
  return other.ok ? done(other.value ?? runId) : other;
}

/** Of idempotency keys that nobody repeats any more. */
export async function forgetOldOrders({ records, now }: ServiceContext, olderThanMs: number): Promise<void> {
  for (const stored of await records.listAll(IDEMPOTENCY)) {
    if (stored.createdAt < now() - olderThanMs) await records.delete(stored);
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
