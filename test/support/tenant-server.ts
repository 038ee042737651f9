/**
 * A product's server, as a program of its own: every request is a run of one user by `metier.for`, streamed as server-sent
 * events. Its model tells everything that it was told, so whatever reaches a model reaches a client. `/report` says what the
 * server itself saw: whom its tools were called for, how runs ended, its heap.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  createMetier,
  createScriptedModel,
  defineTool,
  type GivenTool,
  type RunStatus,
  type ScriptedModel,
} from "metier";
import type { TenantReport, TenantRequest } from "./tenants.ts";

const [root = "", users = "0"] = process.argv.slice(2);
const folderOf = (user: string): string => join(root, "users", user);
for (let number = 0; number < Number(users); number++) {
  const folder = folderOf(`u${number}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "note.txt"), `canary-file-u${number}\n`);
}
const metier = await createMetier({ home: join(root, "home"), autoDiscover: false });
await metier.register({
  name: "tell",
  description: "Tell what there is. Use for everything.",
  instructions: "Do what the message says.",
  env: ["API_KEY"],
});

const report = { faults: [] as string[], statuses: {} as Record<string, number>, most: 0, finished: 0 };
const heap: number[] = [];
let running = 0;
const fault = (text: string): void => {
  if (report.faults.length < 50) report.faults.push(text);
};
process.on("unhandledRejection", (reason) => fault(`unhandled rejection: ${String(reason)}`));
process.on("uncaughtException", (error) => fault(`uncaught exception: ${String(error)}`));

/** Calls every way out of a user's view, then says all that it was told, word for word. */
function createTellingModel({ user, other, commands, thinkMs, hangs }: TenantRequest): ScriptedModel {
  const whose = { user };
  const looks = [
    { tool: "read_file", input: { path: "note.txt" } },
    { tool: "read_file", input: { path: join(folderOf(other), "note.txt") } },
    { tool: "read_file", input: { path: `../${other}/note.txt` } },
    { tool: "who", input: whose },
    { tool: "mine", input: whose },
    ...(commands ? [{ tool: "bash", input: { command: listing(user, other) } }] : []),
  ];
  const waits =
    hangs === "command" ? [{ tool: "bash", input: { command: `sleep ${1_000_000 + running}` } }] : [];
  const first = { text: "I look. ", toolCalls: [...looks, ...waits], delayMs: thinkMs };
  const script = createScriptedModel([{ answer: first }]);
  let turns = 0;
  const doStream: ScriptedModel["doStream"] = (options: { readonly prompt: unknown }) => {
    turns += 1;
    if (turns === 1) return script.doStream(options as never);
    const text = `It was: ${JSON.stringify(options.prompt)}`;
    const delayMs = hangs === "model" ? 600_000 : 0;
    return createScriptedModel([{ answer: { text, delayMs } }]).doStream(options as never);
  };
  return { ...script, doStream };
}

/** What a process of the run finds: its secret's digest, its folder, its data and whose else it can reach. */
function listing(user: string, other: string): string {
  return [
    'printf "canary-key-%s " "$(printf %s "$API_KEY" | sha256sum | cut -c1-16)"',
    'echo "$API_KEY"; cat note.txt',
    `echo canary-data-${user} >> "$METIER_DATA_DIR/mark"; cat "$METIER_DATA_DIR"/../*/mark`,
    `cat ../${other}/note.txt ${folderOf(other)}/note.txt; ls ${join(root, "users")}; true`,
  ].join("; ");
}

/** The model says for whom it calls; the library says for whom it is called. */
function createCanary(name: string, answerFor: (userId: string) => unknown): GivenTool {
  return defineTool({
    name,
    description: "Says who asks.",
    input: { type: "object", properties: { user: { type: "string" } } },
    effect: "read",
    execute(input, { caller }) {
      const { user } = input;
      if (caller.userId !== user) fault(`\`${name}\` of ${user} was called for ${caller.userId}`);
      return answerFor(caller.userId ?? "");
    },
  });
}

const who = createCanary("who", (userId) => `canary-who-${userId}`);

function start(request: TenantRequest): ReturnType<typeof metier.start> {
  const { user } = request;
  const mine = createCanary("mine", () => ({ canary: `canary-tool-${user}` }));
  const view = metier.for({
    userId: user,
    tenantId: `t${Number(user.slice(1)) % 5}`,
    cwd: folderOf(user),
    env: { API_KEY: `secret-of-${user}-0123456789` },
    models: { default: createTellingModel(request) },
    tools: [who, mine],
    approve: "all",
  });
  const run = view.start({ skill: "tell", message: `canary-message-${user}` });
  void (async () => {
    for await (const event of run.events()) {
      if (event.runId !== run.runId) fault(`an event of ${event.runId} reached ${run.runId}`);
    }
  })();
  return run;
}

async function serve(request: TenantRequest, response: ServerResponse): Promise<void> {
  running += 1;
  report.most = Math.max(report.most, running);
  let status: RunStatus | "thrown" = "thrown";
  try {
    const run = start(request);
    const { headers, body } = run.toResponse();
    response.writeHead(200, Object.fromEntries(headers));
    if (body) await pipeline(Readable.fromWeb(body as never), response).catch(() => undefined); // It went away.
    const result = await run.result;
    status = result.status;
    if (status !== (request.hangs ? "cancelled" : "completed"))
      fault(`${request.user}: ${JSON.stringify(result)}`);
  } catch (error) {
    fault(`${request.user}: ${String(error)}`);
    response.destroy();
  }
  running -= 1;
  report.finished += 1;
  report.statuses[status] = (report.statuses[status] ?? 0) + 1;
}

/** What is left once nothing can be freed any more. */
function measureHeap(): number {
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
  if (pathname === "/run") {
    void serve(JSON.parse(searchParams.get("request") ?? "{}") as TenantRequest, response);
    return;
  }
  if (running === 0) heap.push(measureHeap());
  const told: TenantReport = { ...report, running, heap };
  response.end(JSON.stringify(told));
});
// A loaded machine may take long between two bytes, and a client must not find its connection closed.
Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.on("end", () => process.exit(0)).resume(); // Whoever started it is gone.
