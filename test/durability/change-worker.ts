/**
 * A worker to be killed: starts the run of the skill `book`, if it is not there, and advances it until it has ended or
 * waits: `change-worker.ts <root> <run id> <yes | nobody>`. The last word says who confirms changes. With a file `stay` in the
 * folder it goes on when the run waits, and says so by a file `waits`.
 */
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ENDED } from "@metier/durable";
import { openLocal } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";
import { createLedger } from "./ledger-provider.ts";

const [root = "", runId = "", who = "nobody"] = process.argv.slice(2);
const home = join(root, "home");
const opened = await openLocal({ folder: join(home, ".metier", "state", "service") });
if (!opened.ok) throw new Error(opened.refusal.message);
const { journal, engine, snapshots, close } = opened.value;
const metier = await createMetier({
  ...{ home, journal, engine, snapshots },
  index: false,
  capabilities: {
    providers: [createLedger(root)],
    ...(who === "yes" && { confirm: () => "yes" as const }),
  },
});
writeSync(1, "open\n");
const worker = metier.durable.work({ slots: 2, leaseMs: 1000 });
const caller = { userId: "ada", chatId: "42", chatType: "private" } as const;
await metier.durable.start({ skill: "book", message: "Go.", caller }, { runId });
for (;;) {
  const { status = "queued" } = (await metier.durable.get(runId)) ?? {};
  const isWaiting = status === "waiting" && (await metier.durable.questions()).length > 0;
  if (isWaiting) writeFileSync(join(root, "waits"), "");
  if (ENDED.has(status) || (isWaiting && !existsSync(join(root, "stay")))) break;
  await wait(20);
}
await worker.stop(5000);
await close();
