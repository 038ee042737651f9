/**
 * Sessions: conversations that outlive their server. Each message is a run; a session takes the next one when the
 * previous run has ended. A turn is stored before its run, under its number, so that two simultaneous messages can't
 * both be the fifth.
 */
import { randomBytes } from "node:crypto";
import { isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, tableShape } from "@metier/base/shape";
import { ENDED, forTenant, type RecordKey, type StoredRecord } from "@metier/durable";
import { createRunId } from "@metier/run/events";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { boundedText, listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import type { Identity } from "../keys/identity.ts";
import { holdsScope } from "../keys/scopes.ts";
import { type OrderedRun, type OrderOwner, orderRun, type TurnWish } from "../runs/order-run.ts";
import { openProjection } from "../runs/project-event.ts";
import type { ServiceContext } from "../service-context.ts";
import { checkApprove } from "./run-routes.ts";

const KIND = "session";
const GROUP = "sessions";
const MOST_TURNS = 1_000;
const MOST_HISTORY = 100_000;
/** How long a turn's run may be missing after the turn was stored. */
const UNWRITTEN_MS = 60_000;
/** An older turn without a run lost it with old runs, not because of a kill. */
const UNFINISHED_MS = 86_400_000;
const sessionSchema = objectOf(
  { id: TEXT_FIELD, skill: TEXT_FIELD, agent: TEXT_FIELD, turns: NUMBER_FIELD, createdAt: TIME_FIELD },
  ["id", "createdAt"],
);
const messageSchema = objectOf(
  { turn: NUMBER_FIELD, run: TEXT_FIELD, status: TEXT_FIELD, message: TEXT_FIELD, text: TEXT_FIELD },
  ["turn", "run", "message"],
);

interface SessionBody {
  readonly skill?: string;
  readonly agent?: string;
  readonly title?: string;
}

interface MessageBody {
  readonly message: string;
  readonly approve?: "ask" | "allow";
}

interface Turn {
  readonly number: number;
  readonly runId: string;
  readonly message: string;
  readonly approve?: "ask" | "allow" | undefined;
  /** The key that sent it. */
  readonly by?: string | undefined;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

async function findSession(
  { records }: ServiceContext,
  { tenant }: Identity,
  id: string,
): Promise<Result<StoredRecord, HttpRefusal>> {
  const session = await records.get({ tenant, kind: KIND, id });
  return session === undefined ? refuseMissing("session", id, "/v1/sessions") : done(session);
}

async function readTurns({ records }: ServiceContext, tenant: string, id: string): Promise<readonly Turn[]> {
  const stored = await records.list({ tenant, kind: `turn/${id}`, limit: MOST_TURNS });
  return stored.map(({ id: number, body, createdAt: writtenAt }) => {
    const approve = body.approve === "allow" ? "allow" : "ask";
    return {
      number: Number(number),
      runId: textOf(body.runId),
      message: textOf(body.message),
      approve,
      by: textOf(body.by) || undefined,
      writtenAt,
    };
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function showSession({ id, body, createdAt }: StoredRecord): JsonObject {
  return { id, ...body, createdAt: new Date(createdAt).toISOString() };
}

/** Earlier messages and answers: a skill only sees its own run, so it is told. */
async function tellHistory(context: ServiceContext, turns: readonly Turn[]): Promise<string | undefined> {
  const said: string[] = [];
  for (const { runId, message } of turns) {
    const run = await context.journal.get(runId);
    said.push(`User: ${message}`);
    if (isJsonObject(run?.result)) said.push(`Assistant: ${textOf(run.result.text)}`);
  }
  return said.length === 0
    ? undefined
    : `Earlier in this conversation:\n\n${said.join("\n\n").slice(-MOST_HISTORY)}`;
}

/** The last turn with a complete conversation; a failed one leaves none to continue from. */
async function findPrevious(
  { journal }: ServiceContext,
  turns: readonly Turn[],
): Promise<string | undefined> {
  for (const { runId } of turns.toReversed()) {
    const status = (await journal.get(runId))?.status;
    if (status === "completed" || status === "limited") return runId;
  }
  return undefined;
}

const createSession = defineRoute<Record<never, never>, SessionBody>({
  method: "POST",
  path: "/v1/sessions",
  scope: "run",
  group: GROUP,
  summary: "Open a session with an agent, or with one skill that runs for each message.",
  body: tableShape<SessionBody>(
    { skill: boundedText(256, 1), agent: boundedText(80, 1), title: boundedText(200) },
    [],
  ),
  answers: { 201: { about: "The session.", schema: sessionSchema } },
  async handle({ body, identity }, context) {
    if (body.skill === undefined && body.agent === undefined) {
      return refuseRequest(
        "A session needs an `agent` or a `skill`.",
        "Set one of them, or both to run the skill with that agent.",
      );
    }
    const id = `ses-${randomBytes(10).toString("hex")}`;
    const stored = await makeSession(context, identity, id, body);
    if (stored === undefined) throw new Error(`A session with the id \`${id}\` already exists.`);
    return replyWith(showSession(stored), 201);
  },
});

/** `undefined`: there is already one with this id. */
export async function makeSession(
  { records }: ServiceContext,
  identity: Identity,
  id: string,
  body: SessionBody,
): Promise<StoredRecord | undefined> {
  const { tenant, userId } = identity;
  const { skill, agent } = body;
  const line = tellOf(identity, "session.created", id, presentFields({ skill, agent }));
  return records.put({ tenant, kind: KIND, id }, presentFields({ ...body, userId }) as JsonObject, 0, line);
}

/** Takes back a session that nobody knows of yet: the message that it was opened for was refused. */
export async function takeBackSession(
  { records }: ServiceContext,
  identity: Identity,
  id: string,
): Promise<void> {
  await records.delete({ tenant: identity.tenant, kind: KIND, id }, tellOf(identity, "session.removed", id));
}

const listSessions = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/sessions",
  scope: "read",
  group: GROUP,
  summary: "List sessions.",
  query: pageShape,
  answers: pageAnswer("sessions", sessionSchema),
  handle: ({ query, identity: { tenant } }, { records }) =>
    replyPage(query, {
      read: (page) => records.list({ tenant, kind: KIND, ...page }),
      cursor: ({ id }) => id,
      show: showSession,
    }),
});

const readSession = defineRoute({
  method: "GET",
  path: "/v1/sessions/{id}",
  scope: "read",
  group: GROUP,
  summary: "Get a session.",
  answers: { 200: { about: "The session.", schema: sessionSchema } },
  async handle({ identity, param }, context) {
    const session = await findSession(context, identity, param("id"));
    if (!session.ok) return session;
    const turns = (await readTurns(context, identity.tenant, param("id"))).length;
    return replyWith({ ...showSession(session.value), turns });
  },
});

const listMessages = defineRoute({
  method: "GET",
  path: "/v1/sessions/{id}/messages",
  scope: "read",
  group: GROUP,
  summary: "List a session's messages, each with its run and the answer so far.",
  answers: { 200: { about: "All messages, oldest first.", schema: listOf(messageSchema) } },
  async handle({ identity, param }, context) {
    const session = await findSession(context, identity, param("id"));
    if (!session.ok) return session;
    const turns = await readTurns(context, identity.tenant, param("id"));
    const data = await Promise.all(
      turns.map(async ({ number, runId, message }) => {
        const run = await context.journal.get(runId);
        const projection = await openProjection(context.journal, runId, context.hiddenFolders);
        const text = isJsonObject(run?.result) ? projection.value(textOf(run.result.text)) : "";
        return { turn: number, run: runId, status: run?.status ?? "queued", message, text };
      }),
    );
    return replyWith({ data });
  },
});

const postMessage = defineRoute<Record<never, never>, MessageBody>({
  method: "POST",
  path: "/v1/sessions/{id}/messages",
  scope: "run",
  group: GROUP,
  summary: "Send a message to a session, which starts a run.",
  body: tableShape<MessageBody>({ message: boundedText(500_000, 1), approve: choiceShape("ask", "allow") }, [
    "message",
  ]),
  answers: {
    201: {
      about: "The run for this message.",
      schema: objectOf({ run: TEXT_FIELD, turn: NUMBER_FIELD, status: TEXT_FIELD }),
    },
  },
  async handle({ body, identity, param }, context) {
    const session = await findSession(context, identity, param("id"));
    if (!session.ok) return session;
    const owner = checkOwner(identity, session.value);
    if (!owner.ok) return owner;
    const allowed = checkApprove(identity, body.approve);
    if (!allowed.ok) return allowed;
    const turns = await readTurns(context, identity.tenant, param("id"));
    const free = await checkFree(context, turns);
    if (!free.ok) return free;
    const [number, runId, writtenAt] = [turns.length + 1, createRunId(context.now()), context.now()];
    const turn: Turn = { number, runId, writtenAt, ...body };
    const key = turnKey(identity.tenant, param("id"), turn.number);
    const written = { runId: turn.runId, by: identity.keyId, ...body };
    if ((await context.records.put(key, written, 0)) === undefined) {
      return refuse(
        409,
        "session_busy",
        "Another message arrived at the same time.",
        "Wait for its run to end.",
      );
    }
    const ordered = await orderTurn(context, owner.value, session.value, turns, turn);
    if (!ordered.ok) {
      await context.records.delete(key);
      return ordered;
    }
    // Whoever follows the session continues with this run.
    context.notices.changed(session.value.id);
    return replyWith({ run: turn.runId, turn: turn.number, status: ordered.value.status }, 201);
  },
});

async function orderTurn(
  context: ServiceContext,
  owner: OrderOwner,
  { id, body: { skill, agent } }: StoredRecord,
  before: readonly Turn[],
  { runId, message, approve }: Turn,
): Promise<Result<OrderedRun, HttpRefusal>> {
  const wish: TurnWish = {
    ...(typeof skill === "string"
      ? { skill, context: await tellHistory(context, before) }
      : { previous: await findPrevious(context, before) }),
    agent: typeof agent === "string" ? agent : undefined,
    message,
    approve,
    session: id,
  };
  return orderRun(context, owner, wish, { id: runId });
}

/**
 * Who a turn is for: the session's user, whoever sends it, because the conversation is theirs. A key may send for its
 * own user, and an admin's for all; in a session of nobody in particular, any key may.
 */
function checkOwner(
  { keyId, tenant, userId, actor, scopes }: Identity,
  session: StoredRecord,
): Result<OrderOwner, HttpRefusal> {
  const user = userOf(session);
  if (user === undefined || user === userId || holdsScope(scopes, "admin")) {
    return done({ tenant, keyId, actor, userId: user });
  }
  const message = `Session \`${session.id}\` belongs to another user, and this key cannot act for them.`;
  return refuse(403, "other_user", message, "Use that user's key, or open a session with this one.");
}

function userOf({ body: { userId } }: StoredRecord): string | undefined {
  return typeof userId === "string" ? userId : undefined;
}

/**
 * Turns whose run a killed process couldn't store: it is stored now, for the session's user. A turn whose key was
 * revoked since is dropped, as is one that can't be ordered.
 */
export async function finishTurns(context: ServiceContext): Promise<void> {
  for (const session of await context.records.listAll(KIND))
    await forTenant(session.tenant, () => finishLastTurn(context, session));
}

async function finishLastTurn(context: ServiceContext, session: StoredRecord): Promise<void> {
  const { tenant, id } = session;
  const turns = await readTurns(context, tenant, id);
  const last = turns.at(-1);
  if (last === undefined || context.now() - last.writtenAt > UNFINISHED_MS) return;
  if ((await context.journal.get(last.runId)) !== undefined) return;
  const owner = { tenant, userId: userOf(session), keyId: last.by ?? id };
  const isOrdered =
    (await context.keys.stillActs(owner, context.now())) &&
    (await orderTurn(context, owner, session, turns.slice(0, -1), last)).ok;
  if (!isOrdered) await context.records.delete(turnKey(tenant, id, last.number));
}

function turnKey(tenant: string, session: string, number: number): RecordKey {
  return { tenant, kind: `turn/${session}`, id: String(number).padStart(6, "0") };
}

async function checkFree(
  context: ServiceContext,
  turns: readonly Turn[],
): Promise<Result<undefined, HttpRefusal>> {
  if (turns.length >= MOST_TURNS) {
    return refuse(
      409,
      "session_full",
      `The session has ${MOST_TURNS} messages, which is the limit.`,
      "Open a new session.",
    );
  }
  const last = turns.at(-1);
  if (last === undefined) return done(undefined);
  const run = await context.journal.get(last.runId);
  // A run is stored right after its turn; one that was, and is gone, was removed with old runs.
  const isFree = run === undefined ? context.now() - last.writtenAt > UNWRITTEN_MS : ENDED.has(run.status);
  if (isFree) return done(undefined);
  const message = `The session is still working on its last message: run \`${last.runId}\` is ${run?.status ?? "queued"}.`;
  return refuse(409, "session_busy", message, "Wait for that run to end, or cancel it.");
}

export const SESSION_ROUTES: readonly ServiceRoute[] = [
  createSession,
  listSessions,
  readSession,
  listMessages,
  postMessage,
];
