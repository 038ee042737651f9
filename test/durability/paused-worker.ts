/**
 * A worker that was stopped past its lease, beside one that took its run: it writes nothing when it goes on, and what it had
 * started is ended. Over any journal and engine that processes share.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject } from "@metier/base/json";
import type { JournalStore, RunEngine } from "@metier/durable";
import { writeOrder } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { createRunId } from "@metier/run/events";
import { expect, onTestFinished } from "vitest";
import { descendantsOf, until } from "../support/processes.ts";
import {
  type StreamedAnswer,
  type StreamingProvider,
  startStreaming,
} from "../support/streaming-provider.ts";
import { skill, type World } from "../support/world.ts";

const PROGRAM = fileURLToPath(new URL("./sharing-worker.ts", import.meta.url));

/** Also on a machine that does much else. */
const NEVER_LOST_MS = 60_000;

/** What workers share. */
export interface SharedPlace {
  readonly journal: JournalStore;
  readonly engine: Pick<RunEngine, "enqueue">;
  /** For `sharing-worker.ts`: a folder, or nothing where the environment names a database. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A model that makes this one call, and then is done. */
export async function oneCall(command: string): Promise<StreamingProvider> {
  return startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const hasCalled = messages.some(({ role }) => role === "tool");
    return hasCalled ? { pieces: ["Done."] } : { pieces: [], call: { tool: "bash", input: { command } } };
  });
}

export async function pauseWorker(world: World, { journal, engine, ...place }: SharedPlace): Promise<void> {
  const provider = await oneCall(
    'echo begun >> "$METIER_WORK_DIR/log.txt"; while [ ! -e "$METIER_WORK_DIR/go" ]; do sleep 0.1; done; echo ended >> "$METIER_WORK_DIR/log.txt"',
  );
  const [one, two] = [makeHome(world, "one", provider.toml), makeHome(world, "two", provider.toml)];
  const runId = createRunId();
  const order = writeOrder({ skill: "slow", message: "Go." });
  await journal.create({ id: runId, tenant: "default", skill: "slow", order });
  await engine.enqueue(runId);

  const first = await startWorker(place, one, 2_000);
  await until("the first worker makes the call", () => existsSync(logIn(one, runId)));
  const countCalls = async () =>
    (await journal.events(runId, 0, 1000)).filter(
      ({ event }) => isJsonObject(event) && event.type === "tool-called",
    ).length;
  // Events are written a moment after they happen: one that was not written before the pause never is.
  await expect.poll(countCalls).toBe(1);
  first.kill("SIGSTOP");
  await startWorker(place, two, NEVER_LOST_MS);
  await until("the second worker makes the call", () => existsSync(logIn(two, runId)));
  await expect.poll(countCalls).toBe(2); // Only the first worker could write something after that.
  const before = { entries: await journal.entries(runId), events: await journal.events(runId, 0, 1000) };
  expect(descendantsOf(first.pid ?? 0).length).toBeGreaterThan(0);
  first.kill("SIGCONT");
  await until("his processes are gone", () => descendantsOf(first.pid ?? 0).length === 0);
  expect(await journal.entries(runId)).toEqual(before.entries);
  expect(await journal.events(runId, 0, 1000)).toEqual(before.events);
  expect(readFileSync(logIn(one, runId), "utf8")).toBe("begun\n");

  writeFileSync(join(workIn(two, runId), "go"), "");
  const statusOf = async () => (await journal.get(runId))?.status;
  await expect.poll(statusOf, { timeout: 20_000 }).toBe("completed");
  expect(readFileSync(logIn(two, runId), "utf8")).toBe("begun\nended\n");
  const events = (await journal.events(runId, 0, 1000)).map(({ event }) => event as unknown as RunEvent);
  expect(events.filter(({ type }) => type === "tool-finished")).toHaveLength(1);
  expect(events.filter(({ type }) => type === "run-resumed")).toHaveLength(1);
  expect(first.exitCode).toBe(null);
}

function makeHome({ root, write }: World, name: string, config: string): string {
  write({
    [`${name}/.metier/config.toml`]: config,
    [`${name}/.metier/skills/slow/SKILL.md`]: skill("slow", "allowed-tools: Bash"),
  });
  return join(root, name);
}

async function startWorker(
  { folder, environment }: Pick<SharedPlace, "folder" | "environment">,
  home: string,
  leaseMs: number,
) {
  const child = spawn(process.execPath, [PROGRAM, folder, home, String(leaseMs)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: home, ...environment },
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
