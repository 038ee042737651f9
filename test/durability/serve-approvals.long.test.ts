/** Approvals over HTTP on real runs of `metier serve`: counted once, whenever and by whomever they are answered, and told clearly. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";

const append = (line: string): string => `echo ${line} >> "$METIER_WORK_DIR/log.txt"`;

/** A model that makes these calls in one step, and then is done. */
async function createServed(...commands: readonly string[]): Promise<World> {
  const world = createRunWorld({ build: [] });
  const provider = await startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const hasCalled = messages.some(({ role }) => role === "tool");
    if (hasCalled) return { pieces: ["Done."] };
    return { pieces: [], calls: commands.map((command) => ({ tool: "bash", input: { command } })) };
  });
  world.write({ "home/.metier/config.toml": provider.toml });
  return world;
}

async function startRun(server: ServeProcess): Promise<string> {
  const { status, body } = await server.call("POST", "/v1/runs", { skill: "build", message: "Go." });
  expect(status).toBe(201);
  return String(body.id);
}

async function pending(server: ServeProcess, count: number): Promise<readonly JsonObject[]> {
  for (;;) {
    const { body } = await server.call("GET", "/v1/approvals?status=pending");
    if (body.data?.length === count) return body.data;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function makeKey(server: ServeProcess, userId: string): Promise<string> {
  const made = await server.call("POST", "/v1/keys", { name: userId, scopes: ["read", "approve"], userId });
  return String(made.body.key);
}

async function readLog(server: ServeProcess, id: string): Promise<readonly string[]> {
  const { text } = await server.call("GET", `/v1/runs/${id}/files/log.txt`);
  return text.trim().split("\n").sort();
}

describeSandbox("an approval over HTTP", () => {
  test("answered while the run waits, again, and by somebody else: the first counts, the others are told who it was", async () => {
    const world = await createServed(append("a"));
    const server = await startServe(world.home);
    const [ada, bob] = [await makeKey(server, "ada"), await makeKey(server, "bob")];
    const id = await startRun(server);
    await server.settle(id, "waiting");
    const [approval] = await pending(server, 1);
    expect(approval).toMatchObject({ run: id, tool: "bash", input: { command: append("a") } });
    const path = `/v1/approvals/${approval?.id}`;
    const replies = await Promise.all([
      server.call("POST", path, { decision: "approve" }, ada),
      server.call("POST", path, { decision: "approve" }, ada),
      server.call("POST", path, { decision: "deny" }, bob),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const first = replies[2]?.status === 200 ? "denied by bob" : "approved by ada";
    for (const { status, body } of replies) {
      if (status === 200) continue;
      expect(body.error).toMatchObject({ code: "already_answered", hint: expect.stringContaining("events") });
      expect(body.error?.message).toMatch(new RegExp(`was already ${first}.* at .*; that answer stands`));
    }
    await server.settle(id, "completed");
    const late = await server.call("POST", path, { decision: "deny" }, bob);
    expect([late.status, late.body.error?.code]).toEqual([409, "already_answered"]);
    const { text } = await server.call("GET", `/v1/runs/${id}/events`);
    expect(text.match(/"type":"approval-answered"/g)).toHaveLength(1);
  });

  test("answered before the run waits, while another call of its step is under way", async () => {
    const world = await createServed("sleep 2", append("a"));
    const server = await startServe(world.home);
    const id = await startRun(server);
    const asked = await pending(server, 2);
    const isSlow = ({ input }: JsonObject): boolean => JSON.stringify(input).includes("sleep");
    const [slow, approval] = [asked.find(isSlow), asked.find((other) => !isSlow(other))];
    await server.call("POST", `/v1/approvals/${slow?.id}`, { decision: "approve" });
    await server.settle(id, "running");
    const { status, body } = await server.call("POST", `/v1/approvals/${approval?.id}`, {
      decision: "approve",
    });
    expect([status, body.status]).toEqual([200, "approved"]);
    expect(await server.settle(id, "completed", "failed")).toMatchObject({ status: "completed", denied: [] });
    expect(await readLog(server, id)).toEqual(["a"]);
  });

  test("two calls of one step, answered the second first, with a kill after each answer", async () => {
    const world = await createServed(append("a"), append("b"));
    let server = await startServe(world.home);
    const id = await startRun(server);
    const [one, two] = await pending(server, 2);
    for (const approval of [two, one]) {
      const path = `/v1/approvals/${approval?.id}`;
      expect((await server.call("POST", path, { decision: "approve" })).status).toBe(200);
      await server.kill();
      server = await startServe(world.home);
      expect((await server.call("POST", path, { decision: "deny" })).body.error?.code).toBe(
        "already_answered",
      );
    }
    expect(await server.settle(id, "completed", "failed")).toMatchObject({ status: "completed", denied: [] });
    expect(await readLog(server, id)).toEqual(["a", "b"]);
    const { text } = await server.call("GET", `/v1/runs/${id}/events`);
    expect(text.match(/"type":"approval-answered"/g)).toHaveLength(2);
    expect(text.match(/"type":"tool-finished"/g)).toHaveLength(2);
  });

  test("answered after it expired, it does not count, and the run went on without", async () => {
    const world = await createServed(append("a"));
    const server = await startServe(world.home, { flags: ["--answer-within", "1"] });
    const id = await startRun(server);
    const [approval] = await pending(server, 1);
    expect(await server.settle(id, "completed", "failed")).toMatchObject({
      status: "completed",
      denied: [{ tool: "bash", reason: "nobody answered in time" }],
    });
    const late = await server.call("POST", `/v1/approvals/${approval?.id}`, { decision: "approve" });
    expect([late.status, late.body.error?.code]).toEqual([410, "expired"]);
    expect(late.body.error?.message).toMatch(/expired at .*, so this answer has no effect/);
  });

  test("of a run that ended otherwise, or that was never asked, it is told so", async () => {
    const world = await createServed(append("a"));
    const server = await startServe(world.home);
    const id = await startRun(server);
    const [approval] = await pending(server, 1);
    await server.call("POST", `/v1/runs/${id}/cancel`);
    await server.settle(id, "cancelled");
    const late = await server.call("POST", `/v1/approvals/${approval?.id}`, { decision: "approve" });
    expect([late.status, late.body.error?.code]).toEqual([409, "run_cancelled"]);
    expect(late.body.error?.message).toContain("its run ended before anyone answered");
    const unknown = await server.call("POST", "/v1/approvals/nothing", { decision: "approve" });
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, "not_found"]);
  });

  test("of a skill that changed meanwhile the answer counts, but the run does not go on, and says why", async () => {
    const world = await createServed(append("a"));
    const server = await startServe(world.home);
    const id = await startRun(server);
    const [approval] = await pending(server, 1);
    await server.kill();
    world.write({
      "home/.metier/skills/build/SKILL.md": "---\nname: build\ndescription: Builds.\n---\nOther.\n",
    });
    const again = await startServe(world.home);
    const answered = await again.call("POST", `/v1/approvals/${approval?.id}`, { decision: "approve" });
    expect([answered.status, answered.body.status]).toEqual([200, "approved"]);
    expect(await again.settle(id, "completed", "failed")).toMatchObject({
      status: "failed",
      error: { code: "run.changed", message: expect.stringContaining("the content of `build` changed") },
    });
  });
});
