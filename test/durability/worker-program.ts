/**
 * A worker that is killed over and over: starts the runs of the plan that are not there yet, advances them, says yes to what is
 * asked, and ends when all have ended. `worker-program.ts <root> <home> <leaseMs>`; where the environment names a database, it
 * shares that with others.
 */
import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MutationPlan } from "@metier/capabilities";
import {
  catchUp,
  ENDED,
  forAllTenants,
  type JournalStore,
  type RunEngine,
  type SnapshotStore,
} from "@metier/durable";
import { createMetier } from "@metier/runtime";
import { createLedger } from "./ledger-provider.ts";
import { isTurn, type PlannedRun, planMessage, waitsForPerson } from "./plans.ts";

/** By these, `kill-workers.ts` sees on which machine a run began and ended. */
const WRITTEN_DOWN: ReadonlySet<string> = new Set(["run-started", "run-finished"]);
const OPEN_AGAIN_MS = 300;

const [root = "", home = "", lease = "2000"] = process.argv.slice(2);
const durable = await open(join(home, ".metier", "state", "service"));
const metier = await createMetier({
  home,
  journal: durable.journal,
  engine: durable.engine,
  snapshots: durable.snapshots,
  index: false,
  capabilities: { providers: [createLedger(root)], confirm },
  onEvent({ type, runId }) {
    if (WRITTEN_DOWN.has(type))
      appendFileSync(join(root, "advanced.txt"), `${type} ${runId} ${basename(home)}\n`);
  },
});
writeSync(1, "open\n");

const planned = JSON.parse(readFileSync(join(root, "runs.json"), "utf8")) as readonly PlannedRun[];
const ended = new Set<string>();
const worker = metier.durable.work({ slots: 4, leaseMs: Number(lease), onFault: tellFault });
while (ended.size < planned.length) {
  for (const run of planned) if (!ended.has(run.id)) await follow(run);
  for (const { id } of await metier.durable.questions()) {
    await metier.durable.answer(id, { status: "approved", by: "the suite" });
  }
  await wait(50);
}
await worker.stop(5000);
await durable.close();

interface Opened {
  readonly journal: JournalStore;
  readonly engine: RunEngine;
  readonly snapshots: SnapshotStore;
  close(): Promise<void>;
}

async function open(folder: string): Promise<Opened> {
  const { METIER_DATABASE_URL: databaseUrl, ...environment } = process.env;
  if (databaseUrl !== undefined) return openDatabase(databaseUrl, environment);
  const { openLocal } = await import("@metier/durable/sqlite");
  const local = await openLocal({ folder });
  if (!local.ok) throw new Error(local.refusal.message);
  return local.value;
}

/** A database that is away comes back: whoever runs workers starts them again until then. */
async function openDatabase(databaseUrl: string, environment: NodeJS.ProcessEnv): Promise<Opened> {
  const { METIER_DATABASE_ADMIN_URL: adminUrl, METIER_OBJECT_STORE: objectStore = "" } = environment;
  const { openShared } = await import("@metier/durable/postgres");
  for (;;) {
    const shared = await openShared({ databaseUrl, adminUrl, objectStore, environment });
    if (shared.ok) {
      const { journal, engine } = shared.value;
      await forAllTenants(() => catchUp(journal, engine));
      return shared.value;
    }
    writeSync(2, `${basename(home)}: ${shared.refusal.message}\n`);
    await wait(OPEN_AGAIN_MS);
  }
}

function confirm({ input }: MutationPlan): "yes" | "later" {
  return waitsForPerson(String(input.text)) ? "later" : "yes";
}

function tellFault(fault: unknown): void {
  writeSync(2, `${basename(home)}: ${fault instanceof Error ? fault.message : String(fault)}\n`);
}

async function follow({ id: runId, kind, number, previous }: PlannedRun): Promise<void> {
  const run = await metier.durable.get(runId);
  if (run && ENDED.has(run.status)) ended.add(runId);
  if (run || (previous !== undefined && !ended.has(previous))) return;
  const message = planMessage(kind, number);
  const caller = { userId: "ada", chatId: "42", chatType: "private" } as const;
  if (isTurn(kind)) await metier.durable.send({ message, previous, caller }, { runId });
  else await metier.durable.start({ skill: kind, message, caller }, { runId });
}
