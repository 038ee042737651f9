/**
 * Two tenants of one service who have everything alike: a skill of the same name, a user of the same id, files of the same
 * names. Only what their skills say differs, and each looks for the other's mark in all that it gets.
 */
import { gzipSync } from "node:zlib";
import type { Json, JsonObject } from "@metier/base/json";
import { tarOf } from "./archives.ts";
import type { ServeProcess } from "./serve-process.ts";
import { type StreamedAnswer, type StreamingProvider, startStreaming } from "./streaming-provider.ts";
import { skill } from "./world.ts";

const MARKS = { red: "MARK-red-5f2a", blue: "MARK-blue-91c7" } as const;
export type TenantName = keyof typeof MARKS;
const SKILL = "report";
const FILE = "notes.txt";
/** Every so many runs there is a command that somebody has to allow. */
const ASKS_EVERY = 10;

export interface PairedTenant {
  readonly name: TenantName;
  readonly key: string;
  /** Of runs that it has started. */
  readonly ids: string[];
}

/** A model whose answer follows from the conversation; hears of a conversation with marks of both. */
export async function startPairModel(crossings: string[]): Promise<StreamingProvider> {
  return startStreaming((body): StreamedAnswer => {
    const marks = Object.values(MARKS).filter((mark) => body.includes(mark));
    if (marks.length !== 1) crossings.push(`A model was asked with ${marks.length} marks.`);
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const made = messages.filter(({ role }) => role === "tool").length;
    const [, number = "0"] = /NUMBER (\d+)\./.exec(body) ?? [];
    const content = `${marks[0]} ${number}`;
    if (made === 0) return { pieces: [], call: { tool: "write_file", input: { path: FILE, content } } };
    const asks = Number(number) % ASKS_EVERY === 0;
    if (made > 1 || !asks) return { pieces: [`${content} `, "is done."] };
    return { pieces: [], call: { tool: "bash", input: { command: `cat "$METIER_WORK_DIR/${FILE}"` } } };
  });
}

/** Its tenant, a key of its admin for a user, and its skill, trusted. */
export async function openTenant(server: ServeProcess, name: TenantName): Promise<PairedTenant> {
  const tenant = required(await server.call("POST", "/v1/tenants", { name }));
  required(await server.call("PUT", `/v1/tenants/${tenant.id}/models`, { usesHomeModels: true }));
  const made = await server.call("POST", "/v1/keys", {
    name: "ada",
    tenant: String(tenant.id),
    role: "admin",
    userId: "ada",
  });
  const key = String(required(made).key);
  const text = skill(SKILL, "", `Say ${MARKS[name]} in everything.`);
  const response = await fetch(`${server.url}/v1/skills`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: gzipSync(tarOf({ name: `${SKILL}/SKILL.md`, content: text })),
  });
  const { digest } = (await response.json()) as { readonly digest?: string };
  required(await server.call("POST", `/v1/skills/${SKILL}/versions/${digest}/grant`, undefined, key));
  return { name, key, ids: [] };
}

type Reply = Awaited<ReturnType<ServeProcess["call"]>>;

function required({ status, body, text }: Reply): JsonObject {
  if (status < 300) return body;
  throw new Error(`${status}: ${text}`);
}

/** One run of a tenant, from its start to its files. Gives what was wrong. */
export async function askAsPaired(
  server: ServeProcess,
  own: PairedTenant,
  other: PairedTenant,
  number: number,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const call = async (method: string, path: string, body?: Json): Promise<Reply> => {
    const reply = await server.call(method, path, body, own.key);
    if (reply.text.includes(MARKS[other.name]))
      wrong.push(`${own.name} ${method} ${path} has the other's mark`);
    if (reply.status >= 500) wrong.push(`${method} ${path}: ${reply.text}`);
    return reply;
  };
  const message = `NUMBER ${number}.`;
  const asks = number % ASKS_EVERY === 0;
  const wish = { skill: SKILL, message, approve: asks ? "ask" : "allow" };
  const { id } = required(await call("POST", "/v1/runs", wish));
  own.ids.push(String(id));
  if (asks) await allow(call, own, String(id), wrong);
  const events = await call("GET", `/v1/runs/${id}/events`);
  const { body: run } = await call("GET", `/v1/runs/${id}`);
  const file = await call("GET", `/v1/runs/${id}/files/${FILE}`);
  const content = `${MARKS[own.name]} ${number}`;
  if (run.status !== "completed" || run.text !== `${content} is done.`)
    wrong.push(`${id}: ${JSON.stringify(run)}`);
  if (file.text !== content) wrong.push(`${id} has the file ${file.text}`);
  const runs = new Set([...events.text.matchAll(/"runId":"([^"]+)"/g)].map(([, runId]) => runId));
  if (runs.size !== 1 || !runs.has(String(id))) wrong.push(`${id} has events of ${[...runs]}`);
  wrong.push(...(await reachForOther(call, other.ids.at(-1))));
  return wrong;
}

type Call = (method: string, path: string, body?: Json) => Promise<Reply>;

/** Sees nobody else's questions while it looks for its own. */
async function allow(call: Call, own: PairedTenant, id: string, wrong: string[]): Promise<void> {
  for (;;) {
    const { body } = await call("GET", "/v1/approvals?status=pending&limit=500");
    const asked = body.data ?? [];
    for (const { run } of asked)
      if (!own.ids.includes(String(run))) wrong.push(`${own.name} is asked about ${run}`);
    const mine = asked.find(({ run }) => run === id);
    if (mine) required(await call("POST", `/v1/approvals/${mine.id}`, { decision: "approve" }));
    const { body: run } = await call("GET", `/v1/runs/${id}`);
    if (run.status === "failed" || run.status === "completed") return; // Told by who looks at the end.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function reachForOther(call: Call, id: string | undefined): Promise<readonly string[]> {
  if (id === undefined) return [];
  const tried = [
    ["GET", `/v1/runs/${id}`],
    ["GET", `/v1/runs/${id}/events`],
    ["GET", `/v1/runs/${id}/files`],
    ["GET", `/v1/runs/${id}/files/${FILE}`],
    ["POST", `/v1/runs/${id}/cancel`],
  ] as const;
  const replies = await Promise.all(tried.map(([method, path]) => call(method, path)));
  return replies.flatMap(({ status }, at) =>
    status === 404 ? [] : [`${tried[at]?.join(" ")} of the other tenant: ${status}`],
  );
}

/** At the end: lists and sums have all of its own, and nothing else. */
export async function lookOver(server: ServeProcess, own: PairedTenant): Promise<readonly string[]> {
  const wrong: string[] = [];
  const listed = await readAll(server, own, "/v1/runs");
  if (
    listed
      .map(({ id }) => id)
      .sort()
      .join() !== own.ids.toSorted().join()
  )
    wrong.push(`${own.name} sees ${listed.length} runs, and started ${own.ids.length}`);
  for (const by of ["day", "skill", "user"] as const) {
    const { body } = await server.call("GET", `/v1/usage?by=${by}`, undefined, own.key);
    const runs = (body.data ?? []).reduce((sum, entry) => sum + Number(entry.runs), 0);
    if (runs !== own.ids.length) wrong.push(`${own.name} used ${runs} runs by ${by}`);
  }
  const audit = await readAll(server, own, "/v1/audit");
  const known = new Set(own.ids);
  const started = audit.filter(({ action }) => action === "run.start");
  const foreign = started.filter(({ subject }) => !known.has(String(subject)));
  if (foreign.length > 0) wrong.push(`${own.name} has audit lines of others: ${JSON.stringify(foreign[0])}`);
  const { body } = await server.call("GET", "/v1/approvals?limit=500", undefined, own.key);
  for (const { run } of body.data ?? [])
    if (!known.has(String(run))) wrong.push(`${own.name} sees a question of ${run}`);
  return wrong;
}

async function readAll(
  server: ServeProcess,
  { key }: PairedTenant,
  path: string,
): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  let after = "";
  for (;;) {
    const { body } = await server.call("GET", `${path}?limit=500${after}`, undefined, key);
    all.push(...(body.data ?? []));
    if (body.next === undefined) return all;
    after = `&after=${encodeURIComponent(String(body.next))}`;
  }
}
