/**
 * Conversations that clients name themselves. Each is a session of the service, with an id derived from the name, the
 * user and the skill or agent. So nothing else needs storing, and nobody can reach someone else's conversation by its
 * name.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { DurableRun } from "@metier/durable";
import { type HttpRefusal, refuse, refuseScope } from "../http/refusal.ts";
import { holdsScope } from "../keys/scopes.ts";
import { findRun } from "../routes/find-run.ts";
import { makeSession } from "../routes/session-routes.ts";
import { findAgentVersion } from "../runs/agent-versions.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";
import { sendMessage } from "./send-message.ts";

/** The other side of the conversation: a skill that runs for each message, or an agent. */
export interface ThreadTarget {
  readonly skill?: string;
  readonly agent?: string;
}

export interface Thread extends ThreadTarget {
  /** The protocol, because two of them may use the same names. */
  readonly protocol: string;
  /** The client's own name for it. */
  readonly name: string;
}

/** Refused if the tenant has no such skill or agent. */
export async function checkTarget(
  { identity: { tenant } }: InnerRequest,
  { shelf, records }: ServiceContext,
  { skill, agent }: ThreadTarget,
): Promise<Result<undefined, HttpRefusal>> {
  const isThere =
    skill === undefined
      ? (await findAgentVersion(records, tenant, agent ?? "")) !== undefined
      : (await shelf.list(tenant)).some(({ name }) => name === skill);
  if (isThere) return done(undefined);
  const what = skill === undefined ? `agent \`${agent}\`` : `skill \`${skill}\``;
  const hint = `\`GET /v1/${skill === undefined ? "agents" : "skills"}\` lists those there are.`;
  return refuse(404, "not_found", `There is no ${what}.`, hint);
}

function sessionOf({ identity }: InnerRequest, { protocol, name, skill, agent }: Thread): string {
  const { tenant, userId = "" } = identity;
  const text = JSON.stringify([tenant, userId, protocol, skill ?? "", agent ?? "", name]);
  return `ses-${createHash("sha256").update(text).digest("hex").slice(0, 20)}`;
}

/** Starts a run with the next message of the conversation; the first message opens it. */
export async function sendToThread(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
  message: string,
): Promise<Result<DurableRun, HttpRefusal>> {
  const { identity } = asking;
  if (!holdsScope(identity.scopes, "run")) return refuseScope("run");
  const target = await checkTarget(asking, context, thread);
  if (!target.ok) return target;
  const id = sessionOf(asking, thread);
  const { skill, agent, name } = thread;
  const title = `${thread.protocol}: ${name}`.slice(0, 200);
  await makeSession(context, identity, id, {
    title,
    ...(skill === undefined ? { agent: agent ?? "" } : { skill }),
  });
  // Another request may know the session by now, so it stays even if the message is refused.
  const sent = await sendMessage(asking, context, { id, isNew: false }, message);
  return sent.ok ? findRun(context, identity, sent.value) : sent;
}

/** The run of the last message; `undefined`: the conversation has no messages. */
export async function lastRunOf(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
): Promise<Result<DurableRun | undefined, HttpRefusal>> {
  const said = await listSaid(asking, context, thread);
  if (!said.ok) return said;
  const { run } = said.value.at(-1) ?? {};
  return run === undefined ? done(undefined) : findRun(context, asking.identity, String(run));
}

/** The run of a message that was already sent: the last one, with the same text. */
export async function findSaid(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
  { text, number }: { readonly text: string; readonly number: number },
): Promise<Result<DurableRun | undefined, HttpRefusal>> {
  const said = await listSaid(asking, context, thread);
  if (!said.ok) return said;
  const last = said.value.at(-1);
  if (last === undefined || said.value.length !== number || last.message !== text) return done(undefined);
  return findRun(context, asking.identity, String(last.run));
}

async function listSaid(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
): Promise<Result<readonly JsonObject[], HttpRefusal>> {
  const params = { id: sessionOf(asking, thread) };
  const listed = await askRoute("GET /v1/sessions/{id}/messages", asking, context, { params });
  if (listed.ok) return done(listed.value.data as readonly JsonObject[]);
  return listed.refusal.status === 404 ? done([]) : listed;
}
