/** What a person agreed to is what is carried out, in this process or in the next one. */
import { expect, test } from "vitest";
import { journaledEvents, onlyQuestion, openDurable, workUntil } from "../support/durable-runs.ts";
import { bash, calls, createRunWorld, says } from "../support/scripted-runs.ts";

test("a changed command is carried out, and told, in place of the one that a rule had read", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash(echo:*)"] });
  const durable = openDurable(world, [bash("echo first"), says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it.", approve: "every" });
  await workUntil(metier, runId, "waiting");
  const { id } = await onlyQuestion(metier);
  const answer = { input: { command: "echo changed" } };
  await metier.durable.answer(id, { status: "approved", by: "ada", answer });
  await workUntil(metier, runId, "completed");
  const events = await journaledEvents(durable, runId);
  const called = events.filter(({ type }) => type === "tool-called");
  expect(called).toMatchObject([{ input: { command: "echo changed" }, rule: "approved by ada" }]);
  const finished = events.filter(({ type }) => type === "tool-finished");
  expect(finished).toMatchObject([{ text: expect.stringContaining("changed") }]);
});

test("a script that changed while its run waited is not executed", async () => {
  const world = createRunWorld({ build: ["", "Run `scripts/a.sh`."] });
  const script = "home/.metier/skills/build/scripts/a.sh";
  world.write({ [script]: "echo agreed\n" });
  const durable = openDurable(world, [calls("run_script", { script: "scripts/a.sh" })]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "waiting");
  const { id } = await onlyQuestion(metier);
  world.write({ [script]: "echo other\n" });
  await metier.durable.answer(id, { status: "approved", by: "ada" });
  const run = await workUntil(metier, runId, "failed", "completed");
  expect(run).toMatchObject({ status: "failed", result: { error: { code: "run.changed" } } });
});
