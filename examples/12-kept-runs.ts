/** Keeps runs in the program's own store instead of files, lists them by user, and deletes a user who leaves. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { createMetier, createScriptedModel, type KeptRun, type RunEvent, type RunStore } from "metier";

/** Like two tables; every function may be async. */
const runs = new Map<string, KeptRun>();
const events: RunEvent[] = [];
const store: RunStore = {
  put: async (run) => void runs.set(run.runId, run),
  append: async (event) => void events.push(event),
  async list({ userId, before, limit }) {
    const isWanted = (run: KeptRun) =>
      (userId === undefined || run.userId === userId) && (!before || new Date(run.startedAt) < before);
    return [...runs.values()].filter(isWanted).reverse().slice(0, limit);
  },
  events: async (runId) => events.filter((event) => event.runId === runId),
  async delete(runIds) {
    for (const event of [...events])
      if (runIds.includes(event.runId)) events.splice(events.indexOf(event), 1);
    return runIds.filter((runId) => runs.delete(runId)).length;
  },
};

const answers = ["Hello, Ada.", "Hello, Bob.", "Hello again, Ada."];
const metier = await createMetier({
  models: { default: createScriptedModel(answers.map((text) => ({ answer: { text } }))) },
  runs: { store, keepDays: 7 },
});
await metier.register({
  name: "greet",
  description: "Greet someone. Use when a conversation begins.",
  instructions: "Say hello, once.",
});

for (const userId of ["ada", "bob", "ada"]) await metier.run({ skill: "greet", caller: { userId } });

const ofAda = await metier.runs.list({ userId: "ada" });
for (const { runId, status, startedAt } of ofAda) console.log(runId, status, startedAt);
const [last] = ofAda;
assert.ok(last);
assert.equal((await metier.runs.get(last.runId, { userId: "ada" }))?.text, "Hello again, Ada.");
assert.equal(await metier.runs.get(last.runId, { userId: "bob" }), undefined);

assert.equal(await metier.runs.delete({ userId: "ada" }), 2);
assert.equal((await metier.runs.list()).length, 1);
assert.ok(!JSON.stringify(events).includes("Ada"));

// Nothing of it is on disk, and no run folder is left behind.
const folder = metier.places.runs;
assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
