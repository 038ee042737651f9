/** What a lease is for: a long call is renewed and made once; who was away too long writes nothing and leaves no process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { writeOrder } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { createRunId } from "@metier/run/events";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startServe } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import { skill, type World } from "../support/world.ts";

const PROGRAM = fileURLToPath(new URL("./sharing-worker.ts", import.meta.url));

/** A model that makes this one call, and then is done. */
async function oneCall(command: string) {
  return startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const hasCalled = messages.some(({ role }) => role === "tool");
    return hasCalled ? { pieces: ["Done."] } : { pieces: [], call: { tool: "bash", input: { command } } };
  });
}

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
    const provider = await oneCall(
      'echo begun >> "$METIER_WORK_DIR/log.txt"; while [ ! -e "$METIER_WORK_DIR/go" ]; do sleep 0.1; done; echo ended >> "$METIER_WORK_DIR/log.txt"',
    );
    const shared = join(world.root, "shared");
    const [one, two] = [makeHome(world, "one", provider.toml), makeHome(world, "two", provider.toml)];
    mkdirSync(shared, { mode: 0o700 });
    const runId = createRunId();
    const { journal, engine } = openShared(shared);
    await journal.create({
      id: runId,
      tenant: "default",
      skill: "slow",
      order: writeOrder({ skill: "slow", message: "Go." }),
    });
    await engine.enqueue(runId);

    const first = await startWorker(shared, one);
    await until("the first worker makes the call", () => existsSync(logIn(one, runId)));
    first.kill("SIGSTOP");
    await startWorker(shared, two);
    await until("the second worker makes the call", () => existsSync(logIn(two, runId)));
    const before = { entries: await journal.entries(runId), events: await journal.events(runId, 0, 1000) };
    expect(descendantsOf(first.pid ?? 0).length).toBeGreaterThan(0);
    first.kill("SIGCONT");
    await until("his processes are gone", () => descendantsOf(first.pid ?? 0).length === 0);
    expect(await journal.entries(runId)).toEqual(before.entries);
    expect(await journal.events(runId, 0, 1000)).toEqual(before.events);
    expect(readFileSync(logIn(one, runId), "utf8")).toBe("begun\n");

    writeFileSync(join(workIn(two, runId), "go"), "");
    await expect.poll(async () => (await journal.get(runId))?.status, { timeout: 20_000 }).toBe("completed");
    expect(readFileSync(logIn(two, runId), "utf8")).toBe("begun\nended\n");
    const events = (await journal.events(runId, 0, 1000)).map(({ event }) => event as unknown as RunEvent);
    expect(events.filter(({ type }) => type === "tool-finished")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "run-resumed")).toHaveLength(1);
    expect(first.exitCode).toBe(null);
  });
});

function makeHome({ root, write }: World, name: string, config: string): string {
  write({
    [`${name}/.metier/config.toml`]: config,
    [`${name}/.metier/skills/slow/SKILL.md`]: skill("slow", "allowed-tools: Bash"),
  });
  return join(root, name);
}

function openShared(shared: string) {
  const file = join(shared, "journal.db");
  const [store, engine] = [openSqliteStore({ file }), openSqliteEngine({ file })];
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened.");
  onTestFinished(async () => {
    await engine.value.close();
    store.value.close();
  });
  return { journal: store.value.journal, engine: engine.value };
}

async function startWorker(shared: string, home: string) {
  const child = spawn(process.execPath, [PROGRAM, shared, home, "2000"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: home },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

function workIn(home: string, runId: string): string {
  return join(home, ".metier", "state", "runs", runId, "work");
}

function logIn(home: string, runId: string): string {
  return join(workIn(home, runId), "log.txt");
}
