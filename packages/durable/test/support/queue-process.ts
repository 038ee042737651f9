/**
 * A worker in a process of its own: `queue-process.ts <opener> <place> <slots> <holdMs>`. It ends every run after a while,
 * and notes what it does in the file `log` of the place: all processes write to it, in the order in which it happens.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Stores } from "../contract/opened.ts";

const [opener = "", place = "", slots = "", holdMs = ""] = process.argv.slice(2);
const { open } = (await import(opener)) as Stores;
const { engine } = await open(place);

function note(what: string, runId: string): void {
  appendFileSync(join(place, "log"), `${what} ${runId}\n`);
}

engine.work({
  slots: Number(slots),
  leaseMs: 10_000,
  onFault: (fault) => process.stderr.write(`${String(fault)}\n`),
  async advance({ runId }) {
    note("start", runId);
    if (Number(holdMs) > 0) await delay(Number(holdMs));
    note("end", runId);
    return { kind: "ended" };
  },
});
process.stdout.write(`${JSON.stringify({ what: "ready" })}\n`);
