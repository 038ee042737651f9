/**
 * A worker in a process of its own: `engine-process.ts <opener> <place> <leaseMs>`. It takes the journal of each run, says so
 * as a line of JSON, and goes on writing steps until it is stopped, loses its lease or may not write.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { RunLease } from "../../src/index.ts";
import type { Stores } from "../contract/opened.ts";

const [opener = "", place = "", leaseMs = ""] = process.argv.slice(2);
const { open } = (await import(opener)) as Stores;
const { engine, journal } = await open(place);

function say(what: string, { runId, term }: RunLease): void {
  process.stdout.write(`${JSON.stringify({ what, runId, term })}\n`);
}

engine.work({
  slots: 2,
  leaseMs: Number(leaseMs),
  onFault: (fault) => process.stderr.write(`${String(fault)}\n`),
  async advance(lease) {
    const { runId, holder, term, lost } = lease;
    const journalLease = { rootId: runId, holder, term };
    lost.addEventListener("abort", () => say("lost", lease));
    await journal.take(journalLease);
    say("started", lease);
    for (let step = 0; ; step += 1) {
      await delay(20);
      try {
        const entries = [{ key: `${term}-${step}`, value: process.pid }];
        await journal.write(journalLease, { runId, entries });
      } catch (fault) {
        say(fault instanceof Error ? fault.name : "fault", lease);
        await delay(60_000, undefined, { signal: lost }).catch(() => undefined);
        return { kind: "released" };
      }
    }
  },
});
