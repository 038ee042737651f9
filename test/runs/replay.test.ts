/** A recorded run, run again without its model: tools work for real, and a real difference is shown. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "@metier/run";
import { expect, test } from "vitest";
import { openChat } from "../support/chat.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, openRuns, says, useSkill } from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

/** Records one run and gives the way to run it again, in a home where no model is configured. */
async function recordRun(
  world: World,
  script: Parameters<typeof openRuns>[1],
): Promise<{ readonly recorded: RunResult; readonly file: string; replay(): Promise<RunResult> }> {
  const file = join(world.root, "run.jsonl");
  const request = { skill: "count", message: "Count the lines.", approve: "all" } as const;
  const { run } = await openRuns(world, script);
  const { result: recorded } = await run({ ...request, record: file });
  const replay = async (): Promise<RunResult> => {
    const metier = await world.metier();
    return metier.run({ ...request, model: `replay:${file}` });
  };
  return { recorded, file, replay };
}

function comparable({ status, text, iterations, usage, files, denied }: RunResult): object {
  return { status, text, iterations, usage, files, denied };
}

function countingWorld(): World {
  const world = createRunWorld({ count: ["", "Count lines."], check: ["max-iterations: 3"] });
  world.write({ "project/data.txt": "one\ntwo\n" });
  return world;
}

test("the same files give the same result, without the model", async () => {
  const { recorded, replay } = await recordRun(countingWorld(), [
    calls("read_file", { path: "data.txt" }),
    useSkill("check", "Is that right?", { toolResult: "two" }),
    calls("grep_search", { pattern: "one" }),
    says("It is."),
    says("Two lines.", { toolResult: "It is." }),
  ]);
  expect(recorded).toMatchObject({ status: "completed", text: "Two lines." });
  const replayed = await replay();
  expect(comparable(replayed)).toEqual(comparable(recorded));
  expect(replayed.runId).not.toBe(recorded.runId);
});

test("a tool that answers otherwise fails the replay, which shows the difference", async () => {
  const world = countingWorld();
  const { replay } = await recordRun(world, [calls("read_file", { path: "data.txt" }), says("Two lines.")]);
  world.write({ "project/data.txt": "one\nTWO AND A HALF\n" });
  const result = await replay();
  expect(result).toMatchObject({ status: "failed", error: { code: "replay.diverged" } });
  expect(result.error?.message).toMatch(
    /step 2, in the result of `read_file`[\s\S]*recorded: .*two[\s\S]*now: .*TWO AND A HALF/,
  );
});

test("a replay that ends before its recording did failed, in its result and in its log", async () => {
  const world = countingWorld();
  const { file, replay } = await recordRun(world, [says("Two lines.")]);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const again = lines.filter((line) => /"type":"model-(called|answered)"/.test(line));
  const longer = again.map((line) => line.replace('"step":1', '"step":2'));
  world.write({ "run.jsonl": `${[...lines.slice(0, -1), ...longer, ...lines.slice(-1)].join("\n")}\n` });
  const result = await replay();
  expect(result).toMatchObject({ status: "failed", error: { code: "replay.diverged" } });
  expect(result.error?.message).toContain("the replay ended after 1");
  const { json } = await world.cli("runs", "show", result.runId, "--json");
  expect(json).toMatchObject({ state: "failed", error: result.error });
});

test("another task and changed instructions are differences", async () => {
  const world = countingWorld();
  const { file, replay } = await recordRun(world, [calls("list_files", {}), says("One file.")]);
  const metier = await world.metier();
  const other = await metier.run({ skill: "count", message: "Count the words.", model: `replay:${file}` });
  expect(other.error).toMatchObject({ code: "replay.diverged" });
  expect(other.error?.message).toMatch(/a user's text[\s\S]*lines[\s\S]*words/);
  world.write({
    "home/.metier/skills/count/SKILL.md": readFileSync(
      join(world.home, ".metier/skills/count/SKILL.md"),
      "utf8",
    ).replace("Count lines.", "Count words."),
  });
  expect((await replay()).error?.message).toMatch(/the system prompt[\s\S]*Count lines[\s\S]*Count words/);
});

test("the command line records and replays, and exits by what came of it", async () => {
  const world = countingWorld();
  const script = join(world.root, "script.json");
  const file = join(world.root, "run.jsonl");
  world.write({
    "script.json": JSON.stringify([calls("read_file", { path: "data.txt" }), says("Two lines.")]),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(script)}\n`,
  });
  const run = (...flags: readonly string[]) => world.cli("run", "count", "Count.", "--json", ...flags);
  expect(await run("--record", file)).toMatchObject({ code: 0, json: { text: "Two lines." } });
  world.write({ "home/.metier/config.toml": "" });
  expect(await run("--replay", file)).toMatchObject({ code: 0, json: { text: "Two lines.", iterations: 2 } });
  world.write({ "project/data.txt": "one\n" });
  expect(await run("--replay", file)).toMatchObject({
    code: 5,
    json: { error: { code: "replay.diverged" } },
  });
});

test("a recording that is damaged or missing is refused with the reason", async () => {
  const world = countingWorld();
  world.write({ "broken.jsonl": "{}\nnot json\n" });
  const metier = await world.metier();
  for (const file of ["broken.jsonl", "absent.jsonl"]) {
    const result = await metier.run({ skill: "count", model: `replay:${join(world.root, file)}` });
    expect(result).toMatchObject({ status: "failed", error: { code: "model.missing" } });
    expect(result.error?.message).toContain(file);
  }
});

describeSandbox("with commands", () => {
  test("work folders and times of two runs are no difference; what a command prints is", async () => {
    const world = countingWorld();
    const { recorded, replay } = await recordRun(world, [
      bash(
        'wc -l < data.txt | tee "$METIER_WORK_DIR/lines"; echo "$METIER_WORK_DIR"; date -u +%Y-%m-%dT%H:%M:%SZ',
      ),
      says("Two lines.", { toolResult: "2" }),
    ]);
    const replayed = await replay();
    expect(replayed.error).toBeUndefined();
    expect(comparable(replayed)).toEqual(comparable(recorded));
    world.write({ "project/data.txt": "one\n" });
    const diverged = await replay();
    expect(diverged).toMatchObject({ status: "failed", error: { code: "replay.diverged" } });
    expect(diverged.error?.message).toMatch(/the result of `bash`[\s\S]*recorded: .*2[\s\S]*now: .*1/);
  });
});

test("the turns of a chat are recorded one by one, and replayed in their order", async () => {
  const world = countingWorld();
  const [first, second] = [join(world.root, "first.jsonl"), join(world.root, "second.jsonl")];
  const { chat } = await openChat(world, [
    calls("read_file", { path: "data.txt" }),
    says("Two lines.", { toolResult: "two" }),
    says("As I said: two."),
  ]);
  await chat.send("How many lines has data.txt?", { record: first });
  await chat.send("Are you sure?", { record: second });
  const both = join(world.root, "both.jsonl");
  writeFileSync(both, readFileSync(first, "utf8") + readFileSync(second, "utf8"));
  const metier = await world.metier();
  const again = await metier.chat({ model: `replay:${both}` });
  expect(await again.send("How many lines has data.txt?")).toMatchObject({
    status: "completed",
    text: "Two lines.",
  });
  expect(await again.send("Are you sure?")).toMatchObject({ status: "completed", text: "As I said: two." });
  const other = await metier.chat({ model: `replay:${both}` });
  expect(await other.send("How many words?")).toMatchObject({
    status: "failed",
    error: { code: "replay.diverged" },
  });
});
