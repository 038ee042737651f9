/** Kills a worker at random moments until it has been killed often enough, lets it finish, and looks at what all runs left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DurableRun } from "@metier/durable";
import { openSqliteReader } from "@metier/durable/sqlite";
import { createRunId } from "@metier/run/events";
import { createRandom } from "../support/random.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";
import { checkRun, type Told } from "./check-runs.ts";
import { answerTo, doneText, type PlannedRun, planRuns, readPlan, SKILLS, stepsOf } from "./plans.ts";

const PROGRAM = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
const LEASE_MS = 2000;

export interface KillReport {
  readonly runs: readonly DurableRun[];
  /** What was wrong, in sentences. */
  readonly faults: readonly string[];
  /** Requests that the model got, and how many of them were needed. */
  readonly asked: number;
  readonly needed: number;
  /** Calls, those of which the model was told that nobody knows, and runs that another process took up. */
  readonly told: Told;
}

export async function killWorkers(kills: number, runs: number, seed: number): Promise<KillReport> {
  const random = createRandom(seed);
  const world = createRunWorld(SKILLS);
  const faults: string[] = [];
  const provider = await startStreaming((body) => answerBody(body, faults));
  world.write({ "home/.metier/config.toml": provider.toml });
  const planned: PlannedRun[] = [];
  const addRuns = (): void => {
    const from = 1 + (planned.at(-1)?.number ?? -1);
    planned.push(...planRuns(from, runs, createRunId));
    world.write({ "runs.json": JSON.stringify(planned) });
  };
  addRuns();
  for (let killed = 0; killed < kills; ) {
    // Now early, now late: while it opens, in the middle of calls, while it waits.
    const ms = random() < 0.2 ? 400 * random() : 400 + 2600 * random();
    if (await runFor(world, ms)) killed += 1;
    else addRuns();
  }
  await runFor(world, undefined);
  const reader = openSqliteReader({ file: join(world.home, ".metier", "state", "service", "journal.db") });
  if (!reader.ok) throw new Error(reader.refusal.message);
  const told = { calls: 0, unknown: 0, confirmed: 0, resumed: 0 };
  try {
    const found = await reader.value.journal.list({ limit: 100_000 });
    for (const run of found) faults.push(...(await checkRun(world, reader.value, run, told)));
    if (found.filter(({ parentId }) => parentId === undefined).length !== planned.length)
      faults.push("Runs are missing.");
    const needed = found.reduce((sum, { order, skill = "" }) => {
      const message = typeof order.message === "string" ? order.message : `PLAN ${skill} 0`;
      return sum + stepsOf(readPlan(message).kind);
    }, 0);
    return { runs: found, faults, asked: provider.requests.length, needed, told };
  } finally {
    reader.value.close();
  }
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** The answer is a function of the conversation: how often the model has spoken since it was told the plan. */
function answerBody(body: string, faults: string[]): ReturnType<Parameters<typeof startStreaming>[0]> {
  const { messages } = JSON.parse(body) as { readonly messages: readonly Message[] };
  const texts = messages.map(({ content }) => JSON.stringify(content) ?? "");
  const at = messages.findLastIndex(({ role }, index) => role === "user" && texts[index]?.includes("PLAN "));
  const { kind, number } = readPlan(texts[at] ?? "");
  const answered = messages.slice(at).filter(({ role }) => role === "assistant").length;
  for (const before of ["talk-1", "talk-2"] as const) {
    const isNeeded = kind.startsWith("talk-") && before < kind;
    const times = texts.filter((text) => text.includes(doneText(before, number))).length;
    if (times !== (isNeeded ? 1 : 0))
      faults.push(`${kind} ${number} sees the end of ${before} ${times} times`);
  }
  const answer = answerTo(kind, number, answered);
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
