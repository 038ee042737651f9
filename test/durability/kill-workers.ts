/** Kills workers at random moments until that was often enough, lets them finish, and looks at what all runs left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DurableRun } from "@metier/durable";
import { createRunId } from "@metier/run/events";
import { onTestFinished } from "vitest";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { createRandom } from "../support/random.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";
import { checkRun, type Told } from "./check-runs.ts";
import type { Left, Place } from "./places.ts";
import { answerTo, doneText, type PlannedRun, planRuns, readPlan, SKILLS, stepsOf } from "./plans.ts";

const PROGRAM = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
const LEASE_MS = 2000;
const USUAL_START_MS = 1500;

export interface KillReport {
  readonly runs: readonly DurableRun[];
  /** What was wrong, in sentences. */
  readonly faults: readonly string[];
  /** Requests that the model got, and how many of them were needed. */
  readonly asked: number;
  readonly needed: number;
  /** Calls, those of which the model was told that nobody knows, and runs that another process took up. */
  readonly told: Told;
  /** Runs that ended on another machine than the one that began them, of all that somebody began. */
  readonly moved: number;
  readonly begun: number;
}

interface KillOptions {
  readonly kills: number;
  /** So many at once; more when all have ended. */
  readonly runs: number;
  readonly seed: number;
  openPlace(world: World): Place | Promise<Place>;
}

/** After so many of them there is no point in going on. */
const MOST_CRASHES = 10;

export async function killWorkers({ kills, runs, seed, openPlace }: KillOptions): Promise<KillReport> {
  const random = createRandom(seed);
  const world = createRunWorld(SKILLS);
  const faults: string[] = [];
  const provider = await startStreaming((body) => answerBody(body, faults));
  world.write({ "home/.metier/config.toml": provider.toml });
  const place = await openPlace(world);
  const planned: PlannedRun[] = [];
  const addRuns = (): void => {
    const from = 1 + (planned.at(-1)?.number ?? -1);
    planned.push(...planRuns(from, runs, createRunId));
    world.write({ "runs.json": JSON.stringify(planned) });
  };
  addRuns();
  const troubles = spread(place.troubles, kills);
  let killed = 0;
  const killOver = async (): Promise<void> => {
    while (killed < kills) {
      // Now early, now late: while it opens, in the middle of calls, while it waits.
      const ms = random() < 0.2 ? 400 * random() : 400 + 2600 * random();
      const known = planned.length;
      if (await runFor(place, world, { ms, random: random(), faults })) {
        killed += 1;
        troubles.afterKill(killed);
      } else if (known === planned.length) addRuns();
    }
    await runFor(place, world, { ms: undefined, random: random(), faults });
  };
  await Promise.all(Array.from({ length: place.workers }, killOver));
  await troubles.over();
  return place.look((left) => report(world.root, left, { planned, faults, asked: provider.requests.length }));
}

/** Each of them after as many kills, and in this order. */
function spread(troubles: Place["troubles"], kills: number) {
  let last: Promise<void> = Promise.resolve();
  let next = 0;
  return {
    afterKill(killed: number): void {
      while (next < troubles.length && killed >= ((next + 1) * kills) / (troubles.length + 1)) {
        const trouble = troubles[next];
        next += 1;
        last = last.then(trouble);
      }
    },
    over: () => last,
  };
}

async function report(
  root: string,
  left: Left,
  {
    planned,
    faults,
    asked,
  }: Pick<KillReport, "asked"> & {
    readonly planned: readonly PlannedRun[];
    readonly faults: string[];
  },
): Promise<KillReport> {
  const told = { calls: 0, unknown: 0, confirmed: 0, resumed: 0 };
  const found = await left.journal.list({ limit: 100_000 });
  for (const run of found) faults.push(...(await checkRun(root, left, run, told)));
  if (found.filter(({ parentId }) => parentId === undefined).length !== planned.length)
    faults.push("Runs are missing.");
  const needed = found.reduce((sum, { order, skill = "" }) => {
    const message = typeof order.message === "string" ? order.message : `PLAN ${skill} 0`;
    return sum + stepsOf(readPlan(message).kind);
  }, 0);
  return { runs: found, faults, asked, needed, told, ...countMoved(root, planned) };
}

/** By what the machines wrote down. */
function countMoved(root: string, planned: readonly PlannedRun[]): Pick<KillReport, "moved" | "begun"> {
  const lines = readFileSync(join(root, "advanced.txt"), "utf8").trim().split("\n");
  const began = new Map<string, string>();
  const ended = new Map<string, string>();
  for (const [type, id = "", machine = ""] of lines.map((line) => line.split(" "))) {
    // Who was killed before it was recorded did not begin it, but it was there first.
    if (type === "run-finished") ended.set(id, machine);
    else if (!began.has(id)) began.set(id, machine);
  }
  const begun = planned.filter(({ id }) => began.has(id) && ended.has(id));
  return { begun: begun.length, moved: begun.filter(({ id }) => began.get(id) !== ended.get(id)).length };
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

interface Life {
  /** Until it is killed; `undefined`: until it ends by itself. */
  readonly ms: number | undefined;
  /** Chooses its home. */
  readonly random: number;
  readonly faults: string[];
}

/** `true`: it was killed before it ended. */
async function runFor(place: Place, { root }: World, { ms, random, faults }: Life): Promise<boolean> {
  const home = place.takeHome(random);
  const child = spawn(process.execPath, [PROGRAM, root, home, String(LEASE_MS)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...COMPILED_CODE, PATH: process.env.PATH, HOME: home, ...place.environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const from = performance.now();
  try {
    await Promise.race([once(child.stdout, "data"), ended]);
    if (ms !== undefined) {
      // On a busy machine everything takes longer: who is killed before he has done anything shows nothing.
      const slowness = Math.max(1, (performance.now() - from) / USUAL_START_MS);
      await Promise.race([wait(ms * slowness), ended]);
      if (child.exitCode === null && child.kill("SIGKILL")) {
        await ended;
        return true;
      }
    }
    const [code] = (await ended) as unknown as readonly [number | null];
    if (code !== 0) faults.push(`A worker ended with ${code}.`);
    if (faults.length > MOST_CRASHES) throw new Error(faults.join("\n"));
    return false;
  } finally {
    place.leaveHome(home);
  }
}
