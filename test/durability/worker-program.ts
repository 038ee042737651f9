/**
 * A worker that is killed over and over: starts the runs of the plan that are not there yet, advances them, says yes to what is
 * asked, and ends when all have ended.
 */
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MutationPlan } from "@metier/capabilities";
import { ENDED } from "@metier/durable";
import { openLocal } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";
import { createLedger } from "./ledger-provider.ts";
import { isTurn, type PlannedRun, planMessage, waitsForPerson } from "./plans.ts";

const [root = "", lease = "2000"] = process.argv.slice(2);
const home = join(root, "home");
const opened = await openLocal({ folder: join(home, ".metier", "state", "service") });
if (!opened.ok) throw new Error(opened.refusal.message);
const durable = opened.value;
const metier = await createMetier({
  home,
  journal: durable.journal,
  engine: durable.engine,
  snapshots: durable.snapshots,
  index: false,
  capabilities: { providers: [createLedger(root)], confirm },
});
writeSync(1, "open\n");

function confirm({ input }: MutationPlan): "yes" | "later" {
  return waitsForPerson(String(input.text)) ? "later" : "yes";
}

const planned = JSON.parse(readFileSync(join(root, "runs.json"), "utf8")) as readonly PlannedRun[];
const ended = new Set<string>();
const worker = metier.durable.work({ slots: 4, leaseMs: Number(lease) });
while (ended.size < planned.length) {
  for (const run of planned) if (!ended.has(run.id)) await follow(run);
  for (const { id } of await metier.durable.questions()) {
    await metier.durable.answer(id, { status: "approved", by: "the suite" });
  }
  await wait(50);
}
await worker.stop(5000);
await durable.close();

async function follow({ id: runId, kind, number, previous }: PlannedRun): Promise<void> {
  const run = await metier.durable.get(runId);
  if (run && ENDED.has(run.status)) ended.add(runId);
  if (run || (previous !== undefined && !ended.has(previous))) return;
  const message = planMessage(kind, number);
  const caller = { userId: "ada", chatId: "42", chatType: "private" } as const;
  if (isTurn(kind)) await metier.durable.send({ message, previous, caller }, { runId });
  else await metier.durable.start({ skill: kind, message, caller }, { runId });
}
