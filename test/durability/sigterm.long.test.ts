/** A service that is told to end while a call is under way: it goes, holds nothing, and the run goes on at the next start. */
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { openSqliteEngine } from "@metier/durable/sqlite";
import { runFolder } from "@metier/run/events";
import { expect, test } from "vitest";
import { descendantsOf, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startServe } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";

/** A minute, unless it is told to go on. */
const COMMAND =
  'cd "$METIER_WORK_DIR"; touch begun; for i in $(seq 600); do [ -e go ] && break; sleep 0.1; done; echo slept';

async function createSlow(): Promise<World> {
  const world = createRunWorld({ slow: ["allowed-tools: Bash"] });
  const provider = await startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    if (messages.some(({ role }) => role === "tool")) return { pieces: ["Done."] };
    return { pieces: [], call: { tool: "bash", input: { command: COMMAND } } };
  });
  world.write({ "home/.metier/config.toml": provider.toml });
  return world;
}

/** How many runs are held under a lease, as the files of a service that has ended say. */
async function countHeld(home: string): Promise<number> {
  const file = join(metierPlaces(home, {}).state, "service", "journal.db");
  const engine = openSqliteEngine({ file });
  if (!engine.ok) throw new Error(engine.refusal.message);
  const { running } = await engine.value.counts();
  await engine.value.close();
  return running;
}

describeSandbox("SIGTERM in the middle of a call of a minute", () => {
  test("ends the service and what the call has started, gives the run back, and the next start goes on with it", {
    timeout: 180_000,
  }, async () => {
    const world = await createSlow();
    const server = await startServe(world.home, { lease: 600 });
    const wish = { skill: "slow", message: "Go.", approve: "allow" };
    const id = String((await server.call("POST", "/v1/runs", wish)).body.id);
    const { work } = runFolder(metierPlaces(world.home, {}), id);
    await until("the command is under way", () => existsSync(join(work, "begun")));
    const started = descendantsOf(server.child.pid ?? 0);
    expect(started.length).toBeGreaterThan(0);
    const ended = once(server.child, "exit");
    const from = performance.now();
    server.child.kill("SIGTERM");
    const [code] = await ended;
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    process.stderr.write(`metier serve was gone ${seconds} s after SIGTERM; promised are 10 s.\n`);
    expect(code).toBe(0);
    await until("its processes are gone", () => started.every((pid) => !existsSync(`/proc/${pid}`)));
    expect(await countHeld(world.home)).toBe(0);

    rmSync(join(work, "begun"));
    const next = await startServe(world.home, { lease: 600 });
    await until("the call is made again", () => existsSync(join(work, "begun")));
    writeFileSync(join(work, "go"), "");
    expect(await next.settle(id, "completed", "failed")).toMatchObject({
      status: "completed",
      text: "Done.",
    });
    const { text } = await next.call("GET", `/v1/runs/${id}/events`);
    expect(text.match(/"type":"run-resumed"/g)).toHaveLength(1);
    expect(text.match(/"type":"tool-finished"/g)).toHaveLength(1);
  });
});
