/**
 * A run that survives its process: it waits for an approval, its process ends, and another process on the same folder
 * answers and completes it. Nothing that the first one recorded happens again.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { createMetier, createScriptedModel, defineTool, type Metier } from "metier";
import { type DurableStatus, openLocal } from "metier/durable";

const refunded: number[] = [];
const refund = defineTool({
  name: "refund",
  description: "Pays money back.",
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  effect: "write", // asks first
  execute: ({ amount }) => `Refund number ${refunded.push(amount)}.`,
});
const model = createScriptedModel([
  { answer: { toolCalls: [{ tool: "refund", input: { amount: 20 } }] } },
  { answer: { text: "The money is on its way." } },
]);

/** What a process does when it starts; everything durable is in the folder. */
async function start() {
  const opened = await openLocal({ folder: "durable-runs" });
  if (!opened.ok) throw new Error(opened.refusal.message);
  const { journal, engine, snapshots, close } = opened.value;
  const models = { default: model };
  const metier = await createMetier({ models, tools: [refund], journal, engine, snapshots });
  await metier.register({ name: "refunds", description: "Pays money back.", instructions: "Do it." });
  return { metier, close };
}

/** Advances runs until this one has that status. */
async function workUntil({ durable }: Metier, runId: string, status: DurableStatus) {
  const worker = durable.work();
  while ((await durable.get(runId))?.status !== status) await wait(20);
  await worker.stop(5000);
}

const first = await start();
const runId = await first.metier.durable.start({
  skill: "refunds",
  message: "20 for Ada.",
  approve: "every",
});
await workUntil(first.metier, runId, "waiting");
await first.close(); // The process may end here, and the answer may come in a week.

const second = await start();
const [question] = await second.metier.durable.questions();
assert.ok(question);
console.log(question.kind, question.body);
await second.metier.durable.answer(question.id, { status: "approved", by: "bob" });
await workUntil(second.metier, runId, "completed");
console.log((await second.metier.durable.get(runId))?.result);
assert.deepEqual(refunded, [20]);
await second.close();
