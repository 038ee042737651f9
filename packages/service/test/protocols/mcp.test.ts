/** The official MCP client, unmodified, against the service: skills of the tenant, and runs as tools. */
import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY, type ClientWorld, openClientWorld, SAID } from "../support/client-world.ts";

const VERSIONS = ["2025-11-25", "2026-07-28"] as const;

interface ConnectOptions {
  readonly version?: (typeof VERSIONS)[number];
  readonly key?: string;
  /** What the person at the client answers. */
  readonly person?: (request: ElicitRequest) => ElicitResult;
}

async function connect(
  { url }: Pick<ClientWorld, "url">,
  { version = "2026-07-28", key = ADMIN_KEY, person }: ConnectOptions = {},
): Promise<Client> {
  const client = new Client(
    { name: "a client", version: "1.0.0" },
    {
      ...(version === "2026-07-28" && { versionNegotiation: { mode: { pin: version } } }),
      capabilities: person ? { elicitation: {} } : {},
    },
  );
  if (person) client.setRequestHandler("elicitation/create", person);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

function runTool(client: Client, message: string, onprogress?: (said: string) => void) {
  return client.callTool(
    { name: "run_skill", arguments: { skill: "greet", message } },
    onprogress && { onprogress: ({ message: said = "" }) => onprogress(said) },
  );
}

test.each(VERSIONS)("%s: skills, a run with progress, approvals with yes and no", async (version) => {
  const world = await openClientWorld();
  let isAllowed = true;
  const asked: string[] = [];
  const person: ConnectOptions["person"] = ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { approve: isAllowed, note: "as I said" } };
  };
  const client = await connect(world, { version, person });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["use_skill", "run_skill", "follow_run", "cancel_run", "list_runs"]),
  );
  const used = await client.callTool({ name: "use_skill", arguments: { skill: "greet" } });
  expect(JSON.stringify(used)).not.toContain(world.home);
  const said: string[] = [];
  const greeted = await runTool(client, "hello", (message) => said.push(message));
  expect(greeted.structuredContent).toMatchObject({ status: "completed", text: SAID });
  expect(said).toEqual(expect.arrayContaining(["greet: started"]));
  expect((await runTool(client, "build it")).structuredContent).toMatchObject({
    status: "completed",
    text: expect.stringContaining("It is built."),
  });
  isAllowed = false;
  expect((await runTool(client, "build it")).structuredContent).toMatchObject({
    text: expect.stringContaining("It is not built."),
  });
  expect(asked).toEqual([expect.stringContaining("echo made-it"), expect.stringContaining("echo made-it")]);
  const listed = await client.callTool({ name: "list_runs", arguments: { limit: 2 } });
  const { data, next } = listed.structuredContent as { data: readonly { id: string }[]; next: string };
  const rest = await client.callTool({ name: "list_runs", arguments: { limit: 2, after: next } });
  expect([data.length, (rest.structuredContent as { data: unknown[] }).data.length]).toEqual([2, 1]);
});

test("a client that cannot ask is told what the run waits for, and follows it once a person has answered", async () => {
  const world = await openClientWorld();
  const client = await connect(world);
  const waiting = await runTool(client, "build it");
  const { run, approvals } = waiting.structuredContent as {
    run: string;
    approvals: readonly { id: string }[];
  };
  expect(waiting.structuredContent).toMatchObject({ status: "waiting", approvals: [{ tool: "bash" }] });
  await world.call("POST", `/v1/approvals/${approvals[0]?.id}`, { decision: "approve" });
  const ended = await client.callTool({ name: "follow_run", arguments: { run } });
  expect(ended.structuredContent).toMatchObject({ run, status: "completed" });
});

test("a question of an agent is asked of the person at the client", async () => {
  const world = await openClientWorld();
  const person: ConnectOptions["person"] = ({ params }) => {
    expect(params.message).toBe("Which color?");
    return { action: "accept", content: { answer: "blue" } };
  };
  const client = await connect(world, { person });
  expect((await runTool(client, "ask me")).structuredContent).toMatchObject({
    status: "completed",
    text: expect.stringContaining("blue"),
  });
});

test("a run is cancelled from another call", async () => {
  const world = await openClientWorld();
  const client = await connect(world);
  const id = Promise.withResolvers<string>();
  const running = runTool(client, "hang", (message) => {
    const [, run] = /^Run (\S+) started$/.exec(message) ?? [];
    if (run !== undefined) id.resolve(run);
  });
  const run = await id.promise;
  await world.settle(run, "running");
  await client.callTool({ name: "cancel_run", arguments: { run } });
  expect(await running).toMatchObject({ isError: true, structuredContent: { run, status: "cancelled" } });
});

test("a wrong key, an unknown run and skill, bad input, a lesser key and a quota are told as errors", async () => {
  const world = await openClientWorld();
  await expect(connect(world, { key: "metier_wrong" })).rejects.toThrow(/401|not known/i);
  const client = await connect(world);
  const call = async (name: string, input: Record<string, unknown>, of = client) =>
    (await of.callTool({ name, arguments: input })) as { isError?: boolean; structuredContent?: unknown };
  expect(await call("follow_run", { run: "no-such-run" })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "not_found" } },
  });
  expect(await call("run_skill", { skill: "nothing" })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "unknown_skill" } },
  });
  expect(await call("run_skill", { skill: "greet", message: 7 })).toMatchObject({ isError: true });
  const viewer = await connect(world, { key: await world.makeKey("viewer") });
  expect(await call("run_skill", { skill: "greet" }, viewer)).toMatchObject({
    structuredContent: { error: { code: "scope_missing" } },
  });
  const member = await connect(world, { key: await world.makeKey("member", { userId: "ada" }) });
  await world.call("PUT", "/v1/quotas", { users: { ada: { openRuns: 0 } } });
  expect(await call("run_skill", { skill: "greet" }, member)).toMatchObject({ isError: true });
});

test("another tenant sees no skill and no run of the first, and cannot use its session", async () => {
  const world = await openClientWorld();
  const client = await connect(world, { version: "2025-11-25" });
  const { run } = (await runTool(client, "hello")).structuredContent as { run: string };
  const key = await world.makeStranger();
  const stranger = await connect(world, { key });
  for (const name of ["follow_run", "cancel_run"]) {
    const answer = await stranger.callTool({ name, arguments: { run } });
    expect(answer).toMatchObject({ isError: true, structuredContent: { error: { code: "not_found" } } });
  }
  const listed = await stranger.callTool({ name: "list_runs", arguments: {} });
  expect(listed.structuredContent).toEqual({ data: [] });
  expect((await stranger.listTools()).tools.map(({ name }) => name)).not.toContain("use_skill");
  const { sessionId = "" } = client.transport ?? {};
  const stolen = await fetch(`${world.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "mcp-session-id": sessionId,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect([sessionId !== "", stolen.status]).toEqual([true, 404]);
});
