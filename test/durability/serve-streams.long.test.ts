/** Event streams of `metier serve` over real runs: nobody misses an event or sees one twice, also when the server is killed. */
import { expect, test } from "vitest";
import { followEvents, type SeenEvents, upTo } from "../support/follow-events.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";
import { startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";

const KILLED_STREAMS = 100;
const STREAMS = 500;
const KILLS = 3;
const CALLS = 32;
const CALLS_PER_STEP = 4;

/** A model that makes so many calls, a few in each step. */
async function createServed(most: number): Promise<World> {
  const world = createRunWorld({ walk: ["allowed-tools: Bash"] });
  const provider = await startStreaming((body) => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const made = messages.filter(({ role }) => role === "tool").length;
    if (made >= most) return { pieces: ["Done."] };
    const numbers = upTo(CALLS_PER_STEP).map((one) => made + one);
    const calls = numbers.map((number) => ({
      tool: "bash",
      input: { command: `echo ${number}; sleep 0.1` },
    }));
    return { pieces: [], calls };
  });
  world.write({ "home/.metier/config.toml": provider.toml });
  return world;
}

async function start(server: ServeProcess, approve: "ask" | "allow"): Promise<string> {
  const { body } = await server.call("POST", "/v1/runs", { skill: "walk", message: "Go.", approve });
  return String(body.id);
}

/** Comes again, as a browser does, until the run has ended. */
async function followToEnd(url: string, seen: SeenEvents): Promise<void> {
  while (seen.types.at(-1) !== "run-finished") {
    try {
      const status = await followEvents(url, seen, { after: seen.ids.at(-1) });
      if (status === 204) return;
    } catch {
      // The server is away.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function follow(
  count: number,
  url: string,
): { readonly seen: readonly SeenEvents[]; ended: Promise<unknown> } {
  const seen: readonly SeenEvents[] = upTo(count).map(() => ({ ids: [], types: [] }));
  return { seen, ended: Promise.all(seen.map((one) => followToEnd(url, one))) };
}

describeSandbox("streams of events", () => {
  test(`${KILLED_STREAMS} of them over ${KILLS} kills of the server: 0 events missing, 0 double`, {
    timeout: 300_000,
  }, async () => {
    const world = await createServed(CALLS);
    let server = await startServe(world.home);
    const { port } = new URL(server.url);
    const id = await start(server, "allow");
    const { seen, ended } = follow(KILLED_STREAMS, `${server.url}/v1/runs/${id}/events`);
    for (const kill of upTo(KILLS)) {
      while (seen.some(({ ids }) => ids.length < kill * 20))
        await new Promise((resolve) => setTimeout(resolve, 10));
      await server.kill();
      server = await startServe(world.home, { port });
    }
    await ended;
    const last = seen[0]?.ids.length ?? 0;
    expect(last).toBeGreaterThan(CALLS * 2);
    expect(seen.filter(({ ids }) => ids.join() !== upTo(last).join())).toEqual([]);
    expect(seen.filter(({ types }) => types.join() !== seen[0]?.types.join())).toEqual([]);
    expect(seen[0]?.types.filter((type) => type === "tool-finished")).toHaveLength(CALLS);
    expect(seen[0]?.types.filter((type) => type === "run-resumed").length).toBeGreaterThan(0);
  });

  test(`${STREAMS} of them at once all see every event`, { timeout: 120_000 }, async () => {
    const world = await createServed(CALLS_PER_STEP);
    const server = await startServe(world.home);
    const id = await start(server, "ask");
    const { seen, ended } = follow(STREAMS, `${server.url}/v1/runs/${id}/events`);
    while (seen.some(({ ids }) => ids.length < 1)) await new Promise((resolve) => setTimeout(resolve, 20));
    const metrics = await server.call("GET", "/metrics");
    expect(metrics.text).toMatch(new RegExp(`^metier_event_streams ${STREAMS}$`, "m"));
    while (seen.every(({ types }) => types.at(-1) !== "run-finished")) {
      const { body } = await server.call("GET", "/v1/approvals?status=pending");
      for (const approval of body.data ?? [])
        await server.call("POST", `/v1/approvals/${approval.id}`, { decision: "approve" });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await ended;
    const last = seen[0]?.ids.length ?? 0;
    expect(seen.filter(({ ids }) => ids.join() !== upTo(last).join())).toEqual([]);
  });
});
