/**
 * Event streams of two servers on one Postgres: a worker is killed, then a server; who followed there goes on at the other, and
 * nobody misses an event or sees one twice.
 */
import { expect, test } from "vitest";
import { followEvents, type SeenEvents, upTo } from "../support/follow-events.ts";
import { createMachines } from "../support/machines.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { startStreaming } from "../support/streaming-provider.ts";

const STREAMS = 40;
const CALLS = 24;
const CALLS_PER_STEP = 4;

/** A model that makes all these calls, a few in each step. */
async function startModel() {
  return startStreaming((body) => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const made = messages.filter(({ role }) => role === "tool").length;
    if (made >= CALLS) return { pieces: ["Done."] };
    const numbers = upTo(CALLS_PER_STEP).map((one) => made + one);
    const calls = numbers.map((number) => ({
      tool: "bash",
      input: { command: `echo ${number}; sleep 0.2` },
    }));
    return { pieces: [], calls };
  });
}

/** Comes again, at the next server, as a load balancer lets it. */
async function followToEnd(urls: readonly string[], first: number, seen: SeenEvents): Promise<void> {
  for (let at = first; seen.types.at(-1) !== "run-finished"; at += 1) {
    try {
      const url = urls[at % urls.length] ?? "";
      if ((await followEvents(url, seen, { after: seen.ids.at(-1) })) === 204) return;
    } catch {
      // That server is away.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function seenBy(all: readonly SeenEvents[], least: number): Promise<void> {
  while (all.some(({ ids }) => ids.length < least)) await new Promise((resolve) => setTimeout(resolve, 10));
}

describeSandbox("streams of events on two servers", () => {
  describeWithPostgres("on Postgres", () => {
    test(`${STREAMS} of them over a killed worker and a killed server: 0 events missing, 0 double`, {
      timeout: 300_000,
    }, async () => {
      const machines = await createMachines({ walk: ["allowed-tools: Bash"] }, await startModel());
      const servers = [await machines.serve("server"), await machines.serve("other")] as const;
      const workers = { one: await machines.work("one"), two: await machines.work("two") };
      const [server, other] = servers;
      const wish = { skill: "walk", message: "Go.", approve: "allow" };
      const id = String((await server.call("POST", "/v1/runs", wish)).body.id);
      const urls = servers.map(({ url }) => `${url}/v1/runs/${id}/events`);
      const seen: readonly SeenEvents[] = upTo(STREAMS).map(() => ({ ids: [], types: [] }));
      const ended = Promise.all(seen.map((one, at) => followToEnd(urls, at, one)));
      await seenBy(seen, 10);
      const [first] = machines.placesOf(id, "one", "two");
      await workers[first === "two" ? "two" : "one"].kill();
      await seenBy(seen, 25);
      await server.kill();
      await ended;
      const last = seen[0]?.ids.length ?? 0;
      expect(last).toBeGreaterThan(CALLS * 2);
      expect(seen.filter(({ ids }) => ids.join() !== upTo(last).join())).toEqual([]);
      expect(seen.filter(({ types }) => types.join() !== seen[0]?.types.join())).toEqual([]);
      expect(seen[0]?.types.filter((type) => type === "tool-finished")).toHaveLength(CALLS);
      expect(seen[0]?.types.filter((type) => type === "run-resumed").length).toBeGreaterThan(0);
      expect((await other.settle(id, "completed", "failed")).status).toBe("completed");
    });
  });
});
