/** A process that is killed in the middle of a run: its log is whole up to the last event, and nothing else is harmed. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RunEvent, readRunLog } from "@metier/run/events";
import type { Script } from "@metier/run/model";
import { expect, onTestFinished, test } from "vitest";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { processesWith, sleepersOf, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, openRuns, says, useSkill } from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

const PROGRAM = fileURLToPath(new URL("./killed-program.ts", import.meta.url));

function createKillWorld(script: Script): World {
  const world = createRunWorld({ long: [], inner: ["max-iterations: 5"] });
  const file = join(world.project, "script.json");
  world.write({
    "project/script.json": JSON.stringify(script),
    "project/data.txt": "line\n".repeat(20_000),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(file)}\n`,
  });
  return world;
}

interface StartedProgram {
  readonly child: ChildProcess;
  /** Types of the events it told of, in order. */
  readonly told: readonly string[];
}

function startProgram({ root }: World): StartedProgram {
  const child = spawn(process.execPath, [PROGRAM, root], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...COMPILED_CODE, PATH: process.env.PATH, HOME: join(root, "home") },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const told: string[] = [];
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    told.push(...lines);
  });
  return { child, told };
}

/** Kills the program when the moment has come, and waits until it is gone. */
async function killWhen(
  world: World,
  what: string,
  hasCome: (told: readonly string[]) => boolean,
): Promise<readonly string[]> {
  const { child, told } = startProgram(world);
  await until(`${what}, or the program ended`, () => hasCome(told) || child.exitCode !== null);
  expect(child.exitCode, "it must still run").toBeNull();
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  return told;
}

/** The bytes of everything the run has no business to change. */
function fingerprint({ root }: World): string {
  const hash = createHash("sha256");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/recording|\.metier\/(?:state|cache)\//.test(path.slice(root.length)));
  for (const path of files.sort()) hash.update(path).update(readFileSync(path));
  return hash.digest("hex");
}

/** The log is readable and says all that was told; the commands work; a new run works. */
async function expectSound(
  world: World,
  before: string,
  told: readonly string[],
): Promise<readonly RunEvent[]> {
  expect(fingerprint(world)).toBe(before);
  const runs = join(world.home, ".metier", "state", "runs");
  const logs = readdirSync(runs).map((id) => {
    const reading = readRunLog(join(runs, id, "events.jsonl"));
    if (!reading.ok) throw new Error(reading.refusal.message);
    const log = reading.value;
    expect(log).toMatchObject({ broken: 0, unknown: 0 });
    expect(log.events.map(({ seq }) => seq)).toEqual(log.events.map((_, index) => index + 1));
    return log.events;
  });
  // A recording that is not whole has not got its name yet, but what there is of it can be read.
  const recordings = readdirSync(world.root).filter((name) => name.includes("recording.jsonl"));
  expect(recordings).toEqual([expect.stringMatching(/^\.recording\.jsonl\..*\.tmp$/)]);
  for (const name of recordings) {
    expect(readRunLog(join(world.root, name))).toMatchObject({ ok: true, value: { broken: 0, unknown: 0 } });
  }
  const logged = logs.flat();
  const stored = told.filter((type) => type !== "text-delta");
  expect(logged.length).toBeGreaterThanOrEqual(stored.length);
  expect(logged.some(({ type }) => type === "run-finished")).toBe(false);

  const listed = await world.cli("runs", "list", "--json");
  expect(listed.code).toBe(0);
  expect(listed.json.runs.map(({ skill }: { skill: string }) => skill)).toContain("long");
  for (const { runId } of listed.json.runs) {
    expect((await world.cli("runs", "show", runId, "--json")).code).toBe(0);
  }
  const skills = await world.cli("list", "--json");
  expect(skills.json.skills.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["inner", "long"]),
  );
  const { run } = await openRuns(world, [says("Again.")]);
  expect((await run({ skill: "long" })).result).toMatchObject({ status: "completed", text: "Again." });
  return logged;
}

const SLOW = { answer: { text: "Never said.", delayMs: 600_000 } };

test("before the first step", async () => {
  const world = createKillWorld([SLOW]);
  const before = fingerprint(world);
  const told = await killWhen(world, "the run has begun", (types) => types.includes("run-started"));
  const events = await expectSound(world, before, told);
  expect(events[0]).toMatchObject({ type: "run-started", skill: "long" });
});

test("during a model call", async () => {
  const world = createKillWorld([calls("list_files", {}), SLOW]);
  const before = fingerprint(world);
  const told = await killWhen(
    world,
    "the model is asked again",
    (types) => types.filter((type) => type === "model-called").length === 2,
  );
  const events = await expectSound(world, before, told);
  expect(events.at(-1)).toMatchObject({ type: "model-called", step: 2 });
});

test("while it writes", async () => {
  const steps = Array.from({ length: 800 }, () => calls("read_file", { path: "data.txt" }));
  const world = createKillWorld(steps);
  const before = fingerprint(world);
  const told = await killWhen(world, "many events are written", (types) => types.length > 40 + randomInt(40));
  const events = await expectSound(world, before, told);
  expect(events.length).toBeGreaterThan(40);
});

describeSandbox("with commands", () => {
  for (const nested of [false, true]) {
    test(`during a command in the sandbox${nested ? " of a nested run" : ""}: no process survives`, async () => {
      const mark = `600.${randomInt(1e9)}`;
      const command = bash(
        `trap '' TERM INT HUP; (setsid sleep ${mark} &); nohup sleep ${mark} & sleep ${mark}`,
      );
      const world = createKillWorld([...(nested ? [useSkill("inner")] : []), command]);
      const before = fingerprint(world);
      const told = await killWhen(world, "the command runs", () => sleepersOf(mark) === 3);
      await until("all of its processes are gone", () => processesWith(mark).length === 0);
      const events = await expectSound(world, before, told);
      expect(events.map(({ type }) => type)).toContain("tool-called");
    });
  }
});
