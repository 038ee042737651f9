/**
 * Turns a wish into a run: resolves and pins the skill and agent, stores the run, and then queues it. Each step can be
 * repeated without harm, so that a repeated or interrupted request makes one run.
 */
import { createHash } from "node:crypto";
import { canonicalText, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Refused, type Result } from "@metier/base/result";
import { fitShape, recordShape, textShape } from "@metier/base/shape";
import { nearestNames, showNames, showValue } from "@metier/base/text";
import type { DurableRun, DurableStatus } from "@metier/durable";
import { type RunOrder, writeOrder, writeTurn } from "@metier/run";
import { createRunId } from "@metier/run/events";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { tellOf } from "../keys/audit-line.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { hasModels, NO_MODEL_HINT } from "../providers/model-access.ts";
import { findQuotas, refuseQuota, writeLeft } from "../quotas/hold-to-quotas.ts";
import type { ServiceContext } from "../service-context.ts";
import type { ServedSkill } from "../shelf/skill-shelf.ts";
import { type AgentVersion, findAgentVersion } from "./agent-versions.ts";
import { pinnedOf } from "./project-run.ts";

/** A request by a client, a session or a schedule. */
export interface RunWish {
  readonly skill: string;
  readonly message?: string | undefined;
  readonly arguments?: string | readonly string[] | undefined;
  readonly input?: Json | undefined;
  /** `name`, or `name@version`. */
  readonly agent?: string | undefined;
  readonly approve?: "ask" | "allow" | undefined;
  /** Higher ones go first among a tenant's waiting runs. Default: 0. */
  readonly priority?: number | undefined;
}

/** A session's message: without a skill, it is the next turn of a conversation with an agent. */
export interface TurnWish extends Omit<RunWish, "skill"> {
  readonly skill?: string | undefined;
  readonly session?: string | undefined;
  /** The run of the previous turn. */
  readonly previous?: string | undefined;
  /** What was approved in advance, if not now: see `pinApproved`. */
  readonly approved?: string | undefined;
  /** Earlier messages, for a skill that only sees its own run. */
  readonly context?: string | undefined;
}

/** Who it is for, and who asked: a key, or the schedule. */
export interface OrderOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
  readonly keyId: string;
  /** The actor in the audit log; absent: the key. */
  readonly actor?: string | undefined;
}

export interface OrderedRun {
  readonly id: string;
  readonly status: DurableStatus;
  /** `false`: an earlier request with the same idempotency key made it. */
  readonly isNew: boolean;
}

const IDEMPOTENCY = "idempotency";
const idempotencyShape = recordShape<{ readonly runId: string; readonly digest: string }>({
  runId: textShape,
  digest: textShape,
});

/** How the run gets its id: a new one, one stored elsewhere before, or the one that the key stands for. */
interface RunNaming {
  readonly id?: string;
  readonly idempotencyKey?: string | undefined;
}

export async function orderRun(
  context: ServiceContext,
  owner: OrderOwner,
  wish: TurnWish,
  { id: given, idempotencyKey }: RunNaming = {},
): Promise<Result<OrderedRun, HttpRefusal>> {
  const kept = await recallOrder(context, owner, wish, idempotencyKey);
  if (!kept.ok) return kept;
  const before = given ?? kept.value;
  const known = before === undefined ? undefined : await context.journal.get(before);
  if (known !== undefined) {
    // It may have been stored by a process that was killed before it could queue it.
    if (known.status === "queued") await queue(context, known, priorityOf(known));
    return done({ id: known.id, status: known.status, isNew: false });
  }
  const { noRuns } = context.person ?? {};
  if (noRuns) return refuse(503, "no_runs_here", noRuns.message, noRuns.hint);
  if (context.needsModels && !(await hasModels(context.records, owner.tenant))) return refuseWithoutModel();
  const order = await makeOrder(context, owner, wish);
  if (!order.ok) return order;
  const id = given === undefined ? await keepOrder(context, owner, wish, idempotencyKey) : done(given);
  if (!id.ok) return id;
  return createRun(context, owner, wish, { id: id.value, order: order.value });
}

function refuseWithoutModel(): Refused<HttpRefusal> {
  const message = "This run has no model: your tenant has no model provider.";
  return refuse(422, "no_model", message, NO_MODEL_HINT);
}

/** Created within the quotas of its tenant and user, then queued. */
async function createRun(
  context: ServiceContext,
  owner: OrderOwner,
  { skill, agent, approve = "ask", priority }: TurnWish,
  { id, order }: { readonly id: string; readonly order: JsonObject },
): Promise<Result<OrderedRun, HttpRefusal>> {
  const { tenant, userId } = owner;
  const held = await findQuotas(context, owner);
  const pinned = { ...pinnedOf({ order }), ...presentFields({ priority, left: writeLeft(held) }) };
  const outcome = await context.journal.create(
    { id, tenant, userId, skill, order: { ...order, service: pinned } },
    tellOf(owner, "run.started", id, presentFields({ skill, agent, approve })),
    held.quotas,
  );
  if (typeof outcome === "object") return refuseQuota(context, outcome);
  const isNew = outcome === "created";
  await queue(context, { id, tenant, userId }, priority);
  if (isNew) context.metrics.count("metier_runs_started_total");
  return done({ id, status: "queued", isNew });
}

function queue(
  { engine }: ServiceContext,
  { id, tenant, userId }: Pick<DurableRun, "id" | "tenant" | "userId">,
  priority: number | undefined,
): Promise<void> {
  return engine.enqueue(id, presentFields({ tenant, userId, priority }));
}

function priorityOf(run: DurableRun): number | undefined {
  const { priority } = pinnedOf(run);
  return typeof priority === "number" ? priority : undefined;
}

/** The current skill and agent: later changes don't affect this run. */
export async function makeOrder(
  context: ServiceContext,
  owner: OrderOwner,
  wish: TurnWish,
): Promise<Result<JsonObject, HttpRefusal>> {
  const agent = await pinAgent(context, owner, wish);
  if (!agent.ok) return agent;
  const { tenant, userId } = owner;
  const skills = wish.skill === undefined ? undefined : await context.shelf.list(tenant);
  const skill = pinSkill(skills, wish);
  if (!skill.ok) return skill;
  const { name = "", version = 0, definition } = agent.value ?? {};
  const catalog = await context.shelf.pin(tenant, wish.skill, skills);
  if (!catalog.ok) return catalog;
  const { person } = context;
  const caller = presentFields({
    ...person?.caller,
    userId,
    tenantId: tenant === DEFAULT_TENANT ? undefined : tenant,
    sessionId: wish.session,
  });
  const { message, input, arguments: words } = wish;
  const shared = presentFields({
    caller,
    model: definition?.model,
    limits: definition?.limits,
    // Remote callers are asked for each call, whatever a skill says about its own tools.
    approve: wish.approve === "allow" ? ("allow" as const) : person ? ("ask" as const) : ("every" as const),
  });
  const told = [definition?.instructions, wish.context].filter((text) => text !== undefined).join("\n\n");
  const order =
    wish.skill === undefined
      ? writeTurn({
          ...shared,
          message: message ?? "",
          ...presentFields({ previous: wish.previous, instructions: definition?.instructions }),
        })
      : writeOrder({
          ...shared,
          skill: wish.skill,
          ...presentFields({
            message,
            input: input as RunOrder["input"],
            arguments: words,
            context: told || undefined,
          }),
        });
  const pinned = presentFields({
    skillVersion: skill.value,
    catalog: catalog.value,
    agent: definition && `${name}@${version}`,
    session: wish.session,
  });
  return done({ ...order, service: pinned });
}

/** The content identity of an uploaded skill; nothing for the server's. */
function pinSkill(
  skills: readonly ServedSkill[] = [],
  { skill: name, approve, approved }: TurnWish,
): Result<string | undefined, HttpRefusal> {
  if (name === undefined) return done(undefined);
  const skill = skills.find((other) => other.name === name);
  if (skill !== undefined && approve === "allow" && approved !== undefined) {
    const { current = OF_SERVER, trust } = skill;
    if (current !== approved && trust !== "trusted") return refuseOutdated(name);
  }
  if (skill !== undefined) return done(skill.current);
  const near = nearestNames(
    name,
    skills.map((other) => other.name),
  );
  const hint = near.length > 0 ? `Did you mean ${showNames(near)}?` : "`GET /v1/skills` lists all skills.";
  return refuse(422, "unknown_skill", `There is no skill called ${showValue(name)}.`, hint);
}

const OF_SERVER = "server";

/** Whoever may change a skill or agent may not approve through it: new content needs a new approval, or trust. */
function refuseOutdated(name: string): Refused<HttpRefusal> {
  const message = `\`${name}\` changed since it was approved in advance, and its new content is not trusted.`;
  return refuse(409, "approval_outdated", message, "Grant that version, or create the schedule again.");
}

/** A wish approved in advance and run later: pinned to the current skill and agent. */
export async function pinApproved(
  context: ServiceContext,
  owner: OrderOwner,
  wish: RunWish,
): Promise<Result<{ readonly wish: RunWish; readonly approved?: string }, HttpRefusal>> {
  if (wish.approve !== "allow") return done({ wish });
  const agent = await pinAgent(context, owner, wish);
  if (!agent.ok) return agent;
  const skill = pinSkill(await context.shelf.list(owner.tenant), wish);
  if (!skill.ok) return skill;
  const { name, version } = agent.value ?? {};
  const pinned = name === undefined ? wish : { ...wish, agent: `${name}@${version}` };
  return done({ wish: pinned, approved: skill.value ?? OF_SERVER });
}

async function pinAgent(
  { records }: ServiceContext,
  { tenant }: OrderOwner,
  { agent: reference, skill }: TurnWish,
): Promise<Result<AgentVersion | undefined, HttpRefusal>> {
  if (reference === undefined) return done(undefined);
  const agent = await findAgentVersion(records, tenant, reference);
  if (agent === undefined) {
    const message = `There is no agent ${showValue(reference)}, or no such version of it.`;
    const hint = "`GET /v1/agents` lists all agents; write `name` or `name@version`.";
    return refuse(422, "unknown_agent", message, hint);
  }
  const { skills } = agent.definition;
  if (skills === undefined || skill === undefined || skills.includes(skill)) return done(agent);
  const message = `The agent \`${agent.name}\` may only use the skills ${showNames(skills)}.`;
  return refuse(422, "skill_not_allowed", message, "Choose one of them, or another agent.");
}

/** The id that the key already stands for. The same key for another wish is refused. */
async function recallOrder(
  { records }: ServiceContext,
  { tenant }: OrderOwner,
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
    `This idempotency key already started run \`${body.runId}\` with a different request.`,
    "Use a new `Idempotency-Key` for each different request.",
  );
}

/** The run's id: stored before the run itself, so that two equal simultaneous requests name the same run. */
async function keepOrder(
  context: ServiceContext,
  owner: OrderOwner,
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

/** Of idempotency keys that nobody repeats anymore. */
export async function forgetOldOrders({ records, now }: ServiceContext, olderThanMs: number): Promise<void> {
  for (const stored of await records.listAll(IDEMPOTENCY)) {
    if (stored.createdAt < now() - olderThanMs) await records.delete(stored);
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
