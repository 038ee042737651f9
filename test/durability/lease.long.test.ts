/** What a lease is for: a long call is renewed and made once; who was away too long writes nothing and leaves no process. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startServe } from "../support/serve-process.ts";
import { oneCall, pauseWorker } from "./paused-worker.ts";

describeSandbox("a lease of two seconds", () => {
  test("a call of 60 seconds is made once", { timeout: 300_000 }, async () => {
    const world = createRunWorld({ slow: ["allowed-tools: Bash"] });
    const provider = await oneCall(
      'echo begun >> "$METIER_WORK_DIR/log.txt"; sleep 60; echo ended >> "$METIER_WORK_DIR/log.txt"',
    );
    world.write({ "home/.metier/config.toml": provider.toml });
    const server = await startServe(world.home, { lease: 2 });
    const started = await server.call("POST", "/v1/runs", {
      skill: "slow",
      message: "Go.",
      approve: "allow",
    });
    expect(started.status).toBe(201);
    const id = String(started.body.id);
    expect(await server.settle(id, "completed", "failed")).toMatchObject({
      status: "completed",
      text: "Done.",
    });
    expect((await server.call("GET", `/v1/runs/${id}/files/log.txt`)).text).toBe("begun\nended\n");
    const { text } = await server.call("GET", `/v1/runs/${id}/events`);
    expect(text.match(/"type":"tool-called"/g)).toHaveLength(1);
    expect(text).not.toContain("run-resumed");
    expect(provider.requests).toHaveLength(2);
  });

  test("who was stopped past it writes nothing when he goes on, and his processes are ended", {
    timeout: 120_000,
  }, async () => {
    const world = createRunWorld({});
    const folder = join(world.root, "shared");
    mkdirSync(folder, { mode: 0o700 });
    await pauseWorker(world, { ...openBoth(folder), folder, environment: {} });
  });
});

function openBoth(shared: string) {
  const file = join(shared, "journal.db");
  const [store, engine] = [openSqliteStore({ file }), openSqliteEngine({ file })];
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened.");
  onTestFinished(async () => {
    await engine.value.close();
    store.value.close();
  });
  return { journal: store.value.journal, engine: engine.value };
}
