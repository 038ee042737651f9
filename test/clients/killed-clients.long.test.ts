/** `metier serve` is killed under clients of other protocols; when it is back, they go on where they were, unmodified. */
import { once } from "node:events";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../support/follow-events.ts";
import { createProtocolWorld } from "../support/protocol-service.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";

/** Kills it, and starts it again at the same address. */
async function killAndStart(home: string, server: ServeProcess): Promise<ServeProcess> {
  const gone = once(server.child, "exit");
  server.child.kill("SIGKILL");
  await gone;
  return startServe(home, { port: new URL(server.url).port });
}

const SLOW = "run: echo once >> log.txt; sleep 2; cat log.txt";

type SessionStream = AsyncIterable<Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents>;

/** The calls that it waits for. */
async function readUntilWaiting(stream: SessionStream, seen: string[]): Promise<readonly string[]> {
  for await (const event of stream) {
    if ("id" in event) seen.push(event.id);
    if (event.type === "session.status_idle")
      return event.stop_reason.type === "requires_action" ? event.stop_reason.event_ids : [];
  }
  return [];
}

describeSandbox("a server that is killed", () => {
  test("Anthropic's SDK: a session waits over a kill, works through another one, and tells each event once", async () => {
    const { home } = await createProtocolWorld();
    let server = await startServe(home);
    const client = new Anthropic({ baseURL: `${server.url}/anthropic`, apiKey: ADMIN_KEY });
    const { agents, sessions } = client.beta;
    const tools = [{ type: "agent_toolset_20260401" as const }];
    const agent = await agents.create({ name: "writer", model: "default", tools });
    const { id } = await sessions.create({ agent: agent.id, environment_id: "env_metier" });
    const content = [{ type: "text" as const, text: SLOW }];
    const seen: string[] = [];
    const stream = await sessions.events.stream(id);
    await sessions.events.send(id, { events: [{ type: "user.message", content }] });
    const waiting = await readUntilWaiting(stream, seen);
    expect(waiting).toHaveLength(1);
    server = await killAndStart(home, server);
    const next = await sessions.events.stream(id);
    const events = waiting.map((tool_use_id) => {
      return { type: "user.tool_confirmation" as const, tool_use_id, result: "allow" as const };
    });
    await sessions.events.send(id, { events });
    const follow = async (): Promise<void> => {
      for await (const event of next) if ("id" in event) seen.push(event.id);
    };
    const followed = follow().catch(() => undefined); // It breaks when the server is killed.
    while (!seen.some((one) => one.endsWith("user.tool_confirmation")))
      await new Promise((go) => setTimeout(go, 20));
    server = await killAndStart(home, server);
    await followed;
    for (;;) {
      const [last] = (await sessions.events.list(id, { order: "desc", limit: 1 })).data;
      if (last?.type === "session.status_idle" && last.stop_reason.type === "end_turn") break;
      await new Promise((go) => setTimeout(go, 50));
    }
    const listed: string[] = [];
    for await (const event of sessions.events.list(id)) {
      listed.push(event.id);
      if (event.type === "agent.tool_result")
        expect(JSON.stringify(event.content)).toMatch(/stdout:\\nonce"/);
    }
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.slice(0, seen.length)).toEqual(seen);
  }, 120_000);

  test("OpenAI's SDK: a background stream goes on from its last number, without a gap or a double", async () => {
    const { home } = await createProtocolWorld();
    let server = await startServe(home);
    const client = new OpenAI({ baseURL: `${server.url}/openai/v1`, apiKey: ADMIN_KEY });
    const asks = await client.responses.create({ model: "skill/greet", input: SLOW });
    const [request] = asks.output.filter((item) => item.type === "mcp_approval_request");
    server = await killAndStart(home, server);
    const stream = await client.responses.create({
      background: true,
      stream: true,
      previous_response_id: asks.id,
      input: [{ type: "mcp_approval_response", approval_request_id: request?.id ?? "", approve: true }],
    });
    const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
    const follow = async (): Promise<void> => {
      for await (const event of stream) seen.push(event);
    };
    const followed = follow().catch(() => undefined);
    while (seen.length < 2) await new Promise((go) => setTimeout(go, 20));
    server = await killAndStart(home, server);
    await followed;
    const first = seen[0];
    const id = first?.type === "response.created" ? first.response.id : "";
    const after = seen.at(-1)?.sequence_number ?? 0;
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after }))
      seen.push(event);
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index));
    const last = seen.at(-1);
    expect(last?.type).toBe("response.completed");
    const done = await client.responses.retrieve(id);
    expect(done.output[0]).toMatchObject({
      type: "mcp_call",
      status: "completed",
      output: expect.stringMatching(/stdout:\nonce$/),
    });
    await server.call("GET", "/v1/runs");
  }, 120_000);
});
