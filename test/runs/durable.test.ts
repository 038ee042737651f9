/** Runs that survive their process: nothing that was recorded happens twice, and questions wait for an answer. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JournalBatch, JournalStore } from "@metier/durable";
import { readRunLog, runFolder } from "@metier/run/events";
import { expect, test } from "vitest";
import { journaledEvents, onlyQuestion, openDurable, workUntil, write } from "../support/durable-runs.ts";
import { bash, calls, createRunWorld, programTool, says, useSkill } from "../support/scripted-runs.ts";

test("a run that a worker advances ends with the result of any other run", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const durable = openDurable(world, [bash(write("out.txt")), says("It is built.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  const run = await workUntil(metier, runId, "completed");
  expect(run.result).toMatchObject({ runId, status: "completed", text: "It is built.", iterations: 2 });
  const events = await journaledEvents(durable, runId);
  expect(events.at(0)?.type).toBe("run-started");
  expect(events.at(-1)?.type).toBe("run-finished");
});

test("a call that has to be approved parks the run; another process goes on with the answer, and repeats nothing", async () => {
  const world = createRunWorld({ build: ["", "Build it."] });
  const counted: string[] = [];
  const count = programTool("count", async ({ text }) => {
    counted.push(String(text));
    return { text: `${counted.length}`, isError: false };
  });
  const script = [calls("count", { text: "once" }), bash(write("out.txt")), says("Done.")];
  const durable = openDurable(world, script);
  const first = await durable.open({ tools: [count] });
  const runId = await first.durable.start({ skill: "build", message: "Do it." });
  await workUntil(first, runId, "waiting");
  const question = await onlyQuestion(first);
  expect(question).toMatchObject({ kind: "approval", runId, body: { tool: "bash", skill: "build" } });

  const second = await durable.open({ tools: [count] });
  const answer = { status: "approved", by: "ada" } as const;
  expect(await second.durable.answer(question.id, answer)).toMatchObject({ kind: "taken" });
  expect(await second.durable.answer(question.id, { ...answer, by: "bob" })).toMatchObject({
    kind: "late",
    question: { answeredBy: "ada" },
  });
  const run = await workUntil(second, runId, "completed");
  expect(run.result).toMatchObject({ text: "Done.", iterations: 3, files: [{ path: "out.txt" }] });
  expect(counted).toEqual(["once"]);
  const types = (await journaledEvents(durable, runId)).map(({ type }) => type);
  expect(types.filter((type) => type === "run-started")).toHaveLength(1);
  expect(types.filter((type) => type === "run-resumed")).toHaveLength(1);
  expect(types.filter((type) => type === "approval-asked")).toHaveLength(1);
  expect(types.filter((type) => type === "model-answered")).toHaveLength(3);
});

test("what a person denies, or changes, is what the call comes to", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [bash(write("a")), bash(write("b")), says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const denied = await onlyQuestion(metier);
  await metier.durable.answer(denied.id, { status: "denied", by: "ada", answer: { note: "not that" } });
  await workUntil(metier, runId, "waiting");
  const changed = await onlyQuestion(metier);
  const input = { command: write("c") };
  await metier.durable.answer(changed.id, { status: "approved", by: "ada", answer: { input } });
  const { result } = await workUntil(metier, runId, "completed");
  expect(result).toMatchObject({
    files: [{ path: "c" }],
    denied: [{ tool: "bash", reason: "ada declined: not that" }],
  });
});

test("two calls of one step both wait, and are answered in either order", async () => {
  const world = createRunWorld({ build: [] });
  const both = [
    { tool: "bash", input: { command: write("a") } },
    { tool: "bash", input: { command: write("b") } },
  ];
  const durable = openDurable(world, [{ answer: { toolCalls: both } }, says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const questions = await metier.durable.questions();
  expect(questions).toHaveLength(2);
  const [one, two] = questions;
  await metier.durable.answer(two?.id ?? "", { status: "approved", by: "ada" });
  const worker = metier.durable.work();
  const isCalled = async () =>
    (await journaledEvents(durable, runId)).some(({ type }) => type === "tool-finished");
  await expect.poll(isCalled).toBe(true); // The call that was answered does not wait for the other.
  await worker.stop(5000);
  expect(await metier.durable.questions()).toHaveLength(1);
  await metier.durable.answer(one?.id ?? "", { status: "approved", by: "ada" });
  const { result } = await workUntil(metier, runId, "completed");
  expect(result).toMatchObject({ files: [{ path: "a" }, { path: "b" }] });
});

test("calls of one answer that have the same id are told apart", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const ids = { a: "call_0-3", b: "call_0", c: "call_0" };
  const same = Object.entries(ids).map(([name, id]) => ({
    tool: "bash",
    id,
    input: { command: write(name) },
  }));
  const durable = openDurable(world, [{ answer: { toolCalls: same } }, says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  const { result } = await workUntil(metier, runId, "completed");
  expect(result).toMatchObject({ files: [{ path: "a" }, { path: "b" }, { path: "c" }] });
  const types = (await journaledEvents(durable, runId)).map(({ type }) => type);
  expect(types.filter((type) => type === "tool-finished")).toHaveLength(3);
});

test("a skill whose content changed while its run waited is not resumed, and says why", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [bash(write("a"))]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const file = join(world.home, ".metier", "skills", "build", "SKILL.md");
  world.write({ "home/.metier/skills/build/SKILL.md": `${readFileSync(file, "utf8")}\nAnd more.\n` });
  const { id } = await onlyQuestion(metier);
  await metier.durable.answer(id, { status: "approved", by: "ada" });
  const { result } = await workUntil(metier, runId, "failed");
  expect(result).toMatchObject({
    error: { code: "run.changed", message: expect.stringContaining("the content of `build` changed") },
  });
});

test("a run goes on in another home that has the same skill and the same settings, wherever its skills lie", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [bash("true"), says("Done.")]);
  const open = (home: string, discovers: boolean) => {
    cpSync(join(world.home, ".metier", "skills"), join(home, "fetched"), { recursive: true });
    const paths = [join(home, "fetched")];
    const config = { sandbox: { read: [join(home, "data")] }, skills: { "auto-discover": discovers } };
    return durable.open({ home, paths, trustedPaths: paths, config });
  };
  const first = await open(join(world.home, "machine-1"), true);
  const runId = await first.durable.start({ skill: "build", message: "Do it." });
  await workUntil(first, runId, "waiting");
  const second = await open(join(world.home, "machine-2"), false);
  await second.durable.answer((await onlyQuestion(second)).id, { status: "approved", by: "ada" });
  expect((await workUntil(second, runId, "completed")).result).toMatchObject({ text: "Done." });
});

test("a question of a skill that was started by a skill parks both, and both go on", async () => {
  const world = createRunWorld({ outer: [], inner: ["context: fork"] });
  const durable = openDurable(world, [
    useSkill("inner"),
    bash(write("inside")),
    says("Inner is done."),
    says("Outer is done."),
  ]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "outer", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const { id, rootId, runId: innerId } = await onlyQuestion(metier);
  expect(rootId).toBe(runId);
  expect(innerId).not.toBe(runId);
  await metier.durable.answer(id, { status: "approved", by: "ada" });
  const { result } = await workUntil(metier, runId, "completed");
  expect(result).toMatchObject({ text: "Outer is done.", iterations: 2 });
  expect(await metier.durable.get(innerId)).toMatchObject({ status: "completed", parentId: runId });
  const started = (await journaledEvents(durable, runId)).filter(({ type }) => type === "child-started");
  expect(started).toHaveLength(1);
});

test("a run that waits can be cancelled", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [bash(write("a"))]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  expect(await metier.durable.cancel(runId)).toBe(true);
  expect(await workUntil(metier, runId, "cancelled")).toMatchObject({ result: { status: "cancelled" } });
  expect(await metier.durable.cancel(runId)).toBe(false);
});

test("a question to the user waits like an approval", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [
    calls("ask_user", { question: "Which colour?" }),
    says("Blue it is.", undefined),
  ]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const { id, kind, body } = await onlyQuestion(metier);
  expect({ kind, body }).toMatchObject({ kind: "question", body: { question: "Which colour?" } });
  await metier.durable.answer(id, { status: "answered", by: "ada", answer: "blue" });
  await workUntil(metier, runId, "completed");
  const events = await journaledEvents(durable, runId);
  const answered = events.find(({ type }) => type === "tool-finished");
  expect(answered).toMatchObject({ tool: "ask_user", text: "blue" });
  expect(events.filter(({ type }) => type === "tool-called")).toHaveLength(1);
});

test("the log of a run that went on after an approval can be read, whole", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [bash(write("a")), bash(write("b")), says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  for (const status of ["waiting", "waiting", "completed"] as const) {
    await workUntil(metier, runId, status);
    const [question] = await metier.durable.questions();
    if (question) await metier.durable.answer(question.id, { status: "approved", by: "ada" });
  }
  const reading = readRunLog(runFolder(metier.places, runId).log);
  expect(reading).toMatchObject({ ok: true, value: { broken: 0, unknown: 0, torn: false } });
  const types = reading.ok ? reading.value.events.map(({ type }) => type) : [];
  expect(types).toEqual((await journaledEvents(durable, runId)).map(({ type }) => type));
});

test("a conversation goes on from turn to turn, also when one of them waited for an approval", async () => {
  const world = createRunWorld({ inner: [] });
  const heard: string[] = [];
  const durable = openDurable(world, [
    says("Hello Ada."),
    bash(write("note")),
    says("Noted."),
    says("You are Ada."),
  ]);
  const first = await durable.open();
  const one = await first.durable.send({ message: "I am Ada." });
  await workUntil(first, one, "completed");
  const two = await first.durable.send({ message: "Note that.", previous: one });
  await workUntil(first, two, "waiting");
  const { id } = await onlyQuestion(first);
  const second = await durable.open({ onEvent: (event) => heard.push(JSON.stringify(event)) });
  await second.durable.answer(id, { status: "approved", by: "ada" });
  expect(await workUntil(second, two, "completed")).toMatchObject({ result: { text: "Noted." } });
  const three = await second.durable.send({ message: "Who am I?", previous: two });
  expect(await workUntil(second, three, "completed")).toMatchObject({ result: { text: "You are Ada." } });
  const asked = heard.find((line) => line.includes("Who am I?") && line.includes("model-called"));
  expect(asked).toContain("Hello Ada.");
  expect(asked).toContain("Note that.");
});

test("a run that cannot begin ends with an event that says why", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, []);
  const metier = await durable.open({ models: {} });
  const runId = await metier.durable.start({ skill: "gone", message: "Do it." });
  expect(await workUntil(metier, runId, "refused")).toMatchObject({ result: { status: "refused" } });
  const events = await journaledEvents(durable, runId);
  expect(events).toMatchObject([{ type: "run-finished", status: "refused", error: { code: "not-found" } }]);
});

/** A journal in which the first write of this kind fails, as the last of a process that is killed. */
function failOnce(journal: JournalStore, isMeant: (batch: JournalBatch) => boolean): JournalStore {
  let hasFailed = false;
  return {
    ...journal,
    async write(lease, batch) {
      if (!hasFailed && isMeant(batch)) {
        hasFailed = true;
        throw new Error("The disk is full.");
      }
      await journal.write(lease, batch);
    },
  };
}

test("a run that a skill started, and that had ended when the process did, is not started again", async () => {
  const world = createRunWorld({
    outer: ["allowed-tools: use_skill"],
    inner: ["context: fork\nallowed-tools: Bash"],
  });
  const durable = openDurable(world, [
    useSkill("inner"),
    bash(write("inside")),
    says("Inner is done."),
    says("Outer is done."),
  ]);
  const isResult = ({ entries = [] }: JournalBatch): boolean =>
    entries.some(
      ({ key, value }) => key.startsWith("result ") && JSON.stringify(value).includes("Inner is done."),
    );
  const metier = await durable.open({ journal: failOnce(durable.store.journal, isResult) });
  const runId = await metier.durable.start({ skill: "outer", message: "Do it." });
  const { result } = await workUntil(metier, runId, "completed", "failed");
  expect(result).toMatchObject({ text: "Outer is done.", iterations: 2 });
  const finished = (await journaledEvents(durable, runId)).find(({ type }) => type === "tool-finished");
  expect(finished).toMatchObject({ tool: "use_skill", isError: false });
});

test("a turn whose end was not recorded ends when it is taken up again, and is remembered once", async () => {
  const world = createRunWorld({ inner: [] });
  const durable = openDurable(world, [says("Hello Ada."), says("You are Ada.")]);
  const isEnd = ({ status }: JournalBatch): boolean => status === "completed";
  const metier = await durable.open({ journal: failOnce(durable.store.journal, isEnd) });
  const one = await metier.durable.send({ message: "I am Ada." });
  await workUntil(metier, one, "completed");
  const two = await metier.durable.send({ message: "Who am I?", previous: one });
  expect(await workUntil(metier, two, "completed")).toMatchObject({ result: { text: "You are Ada." } });
});

test("a run whose process ended before its first event begins again", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  world.write({ [`home/.metier/state/runs/${runId}/events.jsonl`]: "" });
  expect(await workUntil(metier, runId, "completed", "failed")).toMatchObject({ result: { text: "Done." } });
});

test("a run without durability leaves nothing in the journal, and one without a journal says what is missing", async () => {
  const world = createRunWorld({ build: [] });
  const durable = openDurable(world, [says("Hello.")]);
  const metier = await durable.open();
  await metier.run({ skill: "build", message: "Hi." });
  expect(await durable.store.journal.list({ limit: 10 })).toEqual([]);
  const plain = await world.metier();
  await expect(plain.durable.start({ skill: "build" })).rejects.toThrow(/`journal` or no `engine`/);
});
