/**
 * A wish becomes a run: the skill and the agent are resolved and pinned, the run is written, and then it is queued. Each
 * step may be done twice without harm, so that a request that is repeated, or cut by a kill, makes one run.
 */
import { createHash } from "node:crypto";
import { canonicalText, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Refused, type Result } from "@metier/base/result";
import { fitShape, recordShape, textShape } from "@metier/base/shape";
import { nearestNames, showNames, showValue } from "@metier/base/text";
import type { DurableStatus } from "@metier/durable";
import { type RunOrder, writeOrder, writeTurn } from "@metier/run";
import { createRunId } from "@metier/run/events";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import { type AgentVersion, findAgentVersion } from "./agent-versions.ts";

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

/** A message of a session: without a skill it is the next turn of a conversation with an agent. */
export interface TurnWish extends Omit<RunWish, "skill"> {
  readonly skill?: string | undefined;
  readonly session?: string | undefined;
  /** The run of the turn before. */
  readonly previous?: string | undefined;
  /** What of the skill was approved in advance, where that was not now: see `pinApproved`. */
  readonly approved?: string | undefined;
  /** What was said before, for a skill that sees only its own run. */
  readonly context?: string | undefined;
}

/** Whom it is for, and who asked: a key, or the schedule. */
export interface OrderOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
  readonly keyId: string;
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
  owner: OrderOwner,
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
  // Together, so that both are in one commit.
  await Promise.all([context.engine.enqueue(id.value), isNew && noteStart(context, owner, wish, id.value)]);
  return done({ id: id.value, status: "queued", isNew });
}

async function noteStart(
  { metrics, records }: ServiceContext,
  { tenant, keyId: actor }: OrderOwner,
  { skill, agent, approve = "ask" }: TurnWish,
  subject: string,
): Promise<void> {
  metrics.count("metier_runs_started_total");
  await records.audit({
    tenant,
    actor,
    action: "run.started",
    subject,
    detail: presentFields({ skill, agent, approve }),
  });
}

/** Skill and agent as they are now: what they become later is not this run's. */
async function makeOrder(
  context: ServiceContext,
  owner: OrderOwner,
  wish: TurnWish,
): Promise<Result<JsonObject, HttpRefusal>> {
  const agent = await pinAgent(context, owner, wish);
  if (!agent.ok) return agent;
  const skill = await pinSkill(context, owner, wish);
  if (!skill.ok) return skill;
  const { name = "", version = 0, definition } = agent.value ?? {};
  const { tenant, userId } = owner;
  const caller = presentFields({
    userId,
    tenantId: tenant === DEFAULT_TENANT ? undefined : tenant,
    sessionId: wish.session,
  });
  const { message, input, arguments: words } = wish;
  const shared = presentFields({
    caller,
    model: definition?.model,
    limits: definition?.limits,
    // Over HTTP, a skill's own word that a tool may be used without asking does not count.
    approve: wish.approve === "allow" ? ("allow" as const) : ("every" as const),
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
    agent: definition && `${name}@${version}`,
    session: wish.session,
  });
  return done({ ...order, service: pinned });
}

/** The content identity of an uploaded skill; nothing for one of the server. */
async function pinSkill(
  { shelf }: ServiceContext,
  { tenant }: OrderOwner,
  { skill: name, approve, approved }: TurnWish,
): Promise<Result<string | undefined, HttpRefusal>> {
  if (name === undefined) return done(undefined);
  const skills = await shelf.list(tenant);
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
  return refuse(422, "unknown_skill", `No skill is called ${showValue(name)}.`, hint);
}

const OF_SERVER = "server";

/** Who may change a skill or an agent may not approve by it: other content needs another approval, or trust. */
function refuseOutdated(name: string): Refused<HttpRefusal> {
  const message = `What was approved in advance has changed: \`${name}\` has other content now, which nobody has trusted.`;
  return refuse(409, "approval_outdated", message, "Grant that version, or make the schedule again.");
}

/** A wish that is approved in advance and carried out later: held to the skill and the agent as they are now. */
export async function pinApproved(
  context: ServiceContext,
  owner: OrderOwner,
  wish: RunWish,
): Promise<Result<{ readonly wish: RunWish; readonly approved?: string }, HttpRefusal>> {
  if (wish.approve !== "allow") return done({ wish });
  const agent = await pinAgent(context, owner, wish);
  if (!agent.ok) return agent;
  const skill = await pinSkill(context, owner, wish);
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
    const message = `No agent is called ${showValue(reference)}, or it has no such version.`;
    const hint = "`GET /v1/agents` lists all agents; write `name` or `name@version`.";
    return refuse(422, "unknown_agent", message, hint);
  }
  const { skills } = agent.definition;
  if (skills === undefined || skill === undefined || skills.includes(skill)) return done(agent);
  const message = `The agent \`${agent.name}\` is limited to the skills ${showNames(skills)}.`;
  return refuse(422, "skill_not_allowed", message, "Name one of them, or another agent.");
}

/** The id that the key stands for already. The same key for another wish is refused. */
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
    `The idempotency key was used for another request, which made run \`${body.runId}\`.`,
    "Use a new `Idempotency-Key` for each different request.",
  );
}

/** The id of the run: written before the run itself, so that of two equal requests at once both name the same run. */
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

/** Of idempotency keys that nobody repeats any more. */
export async function forgetOldOrders({ records, now }: ServiceContext, olderThanMs: number): Promise<void> {
  for (const stored of await records.listAll(IDEMPOTENCY)) {
    if (stored.createdAt < now() - olderThanMs) await records.delete(stored);
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
