/**
 * The host that is killed while it changes something. It makes a first call to load everything and says how long a second one
 * takes, waits for a word, makes the call and tells of each moment. Its own process, since only a process can be killed.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { InvokeRequest } from "@metier/capabilities";
import { OWNER, openNotes, PAD } from "./notes-world.ts";

export interface KillTask {
  readonly request: InvokeRequest;
  /** Where it stops, to be killed there; absent: it goes on to the end. */
  readonly stopAt?: "before" | "after";
}

const [home = ""] = process.argv.slice(2);
let task: KillTask | undefined;
/** Written at once: what was told has happened, whenever the kill comes. */
const tell = (what: string): void => void writeSync(1, `${what}\n`);
const broker = openNotes(home, async (moment) => {
  if (!task) return;
  tell(moment);
  if (task.stopAt === moment) await new Promise(() => undefined);
});

async function invoke(request: InvokeRequest): Promise<string> {
  const answer = await broker.invoke(OWNER, request, { confirm: () => "yes" });
  return answer.ok ? "done" : answer.fault.message;
}

async function measure(number: number): Promise<number> {
  const request = { capability: PAD, operation: "set", input: { text: "first" } };
  const startedAt = performance.now();
  await invoke({ ...request, idempotencyKey: `first-${process.pid}-${number}` });
  return performance.now() - startedAt;
}

await measure(1);
tell(`ready ${await measure(2)}`);
for await (const line of createInterface({ input: process.stdin })) {
  task = JSON.parse(line) as KillTask;
  tell(await invoke(task.request));
}
