/**
 * A worker that is killed over and over: starts the runs of the plan that are not there yet, advances them, says yes to what is
 * asked, and ends when all have ended.
 */
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ENDED } from "@metier/durable";
import { openLocal } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";
import { KINDS, planMessage } from "./plans.ts";

const [root = "", lease = "2000"] = process.argv.slice(2);
const home = join(root, "home");
const opened = await openLocal({ folder: join(home, ".metier", "state", "service") });
if (!opened.ok) throw new Error(opened.refusal.message);
const durable = opened.value;
const metier = await createMetier({ home, ...pick(durable), index: false });
writeSync(1, "open\n");

const ids = JSON.parse(readFileSync(join(root, "runs.json"), "utf8")) as readonly string[];
for (const [number, runId] of ids.entries()) {
  const skill = KINDS[number % KINDS.length] ?? "writer";
  if (await metier.durable.get(runId)) continue;
  await metier.durable.start({ skill, message: planMessage(skill, number) }, { runId });
}
const worker = metier.durable.work({ slots: 4, leaseMs: Number(lease) });
for (;;) {
  for (const { id } of await metier.durable.questions()) {
    await metier.durable.answer(id, { status: "approved", by: "the suite" });
  }
  const states = await Promise.all(ids.map((id) => metier.durable.get(id)));
  if (states.every((run) => run && ENDED.has(run.status))) break;
  await wait(50);
}
await worker.stop(5000);
await durable.close();

function pick({ journal, engine, snapshots }: typeof durable) {
  return { journal, engine, snapshots };
}
