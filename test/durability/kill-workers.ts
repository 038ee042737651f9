/** Kills a worker at random moments until it has been killed often enough, lets it finish, and looks at what all runs left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DurableRun } from "@metier/durable";
import { openSqliteReader, type SqliteReader } from "@metier/durable/sqlite";
import { createRunId, type RunEvent, type TokenUsage } from "@metier/run/events";
import { createRandom } from "../support/random.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";
import { answerTo, type Kind, LINES, SKILLS, stepsOf } from "./plans.ts";

const PROGRAM = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
const LEASE_MS = 2000;

export interface KillReport {
  readonly runs: readonly DurableRun[];
  /** What was wrong, in sentences. */
  readonly faults: readonly string[];
  /** Requests that the model got, and how many of them were needed. */
  readonly asked: number;
  readonly needed: number;
}

export async function killWorkers(kills: number, runs: number, seed: number): Promise<KillReport> {
  const random = createRandom(seed);
  const world = createRunWorld(SKILLS);
  const provider = await startStreaming(answerBody);
  world.write({ "home/.metier/config.toml": provider.toml });
  const ids: string[] = [];
  const addRuns = (): void => {
    for (let added = 0; added < runs; added += 1) ids.push(createRunId());
    world.write({ "runs.json": JSON.stringify(ids) });
  };
  addRuns();
  for (let killed = 0; killed < kills; ) {
    // Now early, now late: while it opens, in the middle of calls, while it waits.
    const ms = random() < 0.2 ? 400 * random() : 400 + 2600 * random();
    if (await runFor(world, ms)) killed += 1;
    else addRuns();
  }
  await runFor(world, undefined);
  const reader = openSqliteReader({ file: join(serviceFolder(world), "journal.db") });
  if (!reader.ok) throw new Error(reader.refusal.message);
  try {
    const found = await reader.value.journal.list({ limit: 10_000 });
    const faults = (await Promise.all(found.map((run) => checkRun(world, reader.value, run)))).flat();
    if (found.filter(({ parentId }) => parentId === undefined).length !== ids.length)
      faults.push("Runs are missing.");
    const needed = found.reduce((sum, run) => sum + stepsOf(kindOf(run)), 0);
    return { runs: found, faults, asked: provider.requests.length, needed };
  } finally {
    reader.value.close();
  }
}

export function serviceFolder({ home }: World): string {
  return join(home, ".metier", "state", "service");
}

/** The answer is a function of the conversation: how often the model has spoken in it. */
function answerBody(body: string): ReturnType<Parameters<typeof startStreaming>[0]> {
  const { messages } = JSON.parse(body) as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
  const plan = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => JSON.stringify(content))
    .join(" ");
  const [, kind = "writer", number = "0"] = /PLAN ([a-z-]+) (\d+)/.exec(plan) ?? [];
  const answered = messages.filter(({ role }) => role === "assistant").length;
  const answer = answerTo(kind as Kind, Number(number), answered);
  if (typeof answer === "string") return { pieces: [answer.slice(0, 5), answer.slice(5)] };
  return { pieces: [], calls: answer };
}

/** `true`: it was killed before it ended. */
async function runFor({ root }: World, ms: number | undefined): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, root, String(LEASE_MS)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: join(root, "home") },
  });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended]);
  if (ms !== undefined) {
    await Promise.race([wait(ms), ended]);
    if (child.exitCode === null) {
      child.kill("SIGKILL");
      await ended;
      return true;
    }
  }
  const [code] = (await ended) as unknown as readonly [number | null];
  if (code !== 0) throw new Error(`The worker ended with ${code}.`);
  return false;
}

function kindOf({ skill }: DurableRun): Kind {
  return skill as Kind;
}

async function checkRun(world: World, { journal }: SqliteReader, run: DurableRun): Promise<string[]> {
  const faults: string[] = [];
  const kind = kindOf(run);
  const complain = (what: string): void => void faults.push(`${run.id} (${kind}): ${what}`);
  if (run.status !== "completed") complain(`is ${run.status}: ${JSON.stringify(run.result)?.slice(0, 400)}`);
  const stored = await journal.events(run.id, 0, 100_000);
  if (stored.some(({ seq }, at) => seq !== at + 1)) complain("its events are not numbered without a gap");
  const events = stored.map(({ event }) => event as unknown as RunEvent);
  const count = (type: RunEvent["type"]): number => events.filter((event) => event.type === type).length;
  if (count("run-started") !== 1) complain(`began ${count("run-started")} times`);
  if (count("run-finished") !== 1) complain(`ended ${count("run-finished")} times`);
  if (count("model-answered") !== stepsOf(kind)) complain(`has ${count("model-answered")} answers`);
  checkCalls(events, complain);
  if (run.result !== undefined) checkUsage(run, events, complain);
  const log = join(world.home, ".metier", "state", "runs", run.id, "work", "log.txt");
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").sort() : [];
  if (JSON.stringify(lines) !== JSON.stringify(LINES[kind]))
    complain(`its folder has ${JSON.stringify(lines)}`);
  return faults;
}

function checkCalls(events: readonly RunEvent[], complain: (what: string) => void): void {
  const ended = events.filter((event) => event.type === "tool-finished");
  const names = ended.map(({ step, callId }) => `${step} ${callId}`);
  if (new Set(names).size !== names.length) complain("a call ended twice");
  for (const { tool, isError, text } of ended) if (isError) complain(`${tool} failed: ${text.slice(0, 200)}`);
}

/** The budget counts each answer once, those of the runs it started included. */
function checkUsage(
  { result }: DurableRun,
  events: readonly RunEvent[],
  complain: (what: string) => void,
): void {
  const { usage } = result as unknown as { readonly usage: TokenUsage };
  const own = events.flatMap((event) => (event.type === "model-answered" ? [event.usage.totalTokens] : []));
  const sum = own.reduce((all, tokens) => all + tokens, 0);
  const hasChildren = events.some(({ type }) => type === "child-started");
  if (hasChildren ? usage.totalTokens <= sum : usage.totalTokens !== sum) {
    complain(`used ${usage.totalTokens} tokens, and its answers say ${sum}`);
  }
}
