/**
 * Kills hosts while they perform a change, and makes the same call again with the same key: what is idempotent happened once
 * then, and of anything else it is said that nobody knows, and it is not made a second time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Answer, InvokeAnswer, InvokeRequest } from "@metier/capabilities";
import type { KillTask } from "./capability-kill-child.ts";
import { noteOfKey } from "./notes-provider.ts";
import { linkShelf, notesOf, OWNER, openNotes, PAD } from "./notes-world.ts";
import { createRandom } from "./random.ts";

const CHILD = fileURLToPath(new URL("./capability-kill-child.ts", import.meta.url));

export interface KilledCall {
  /** What the host told before it was killed: `before`, `after`, `done`. */
  readonly told: readonly string[];
  /** How often the change was made, when the host was dead and after the call was made again. */
  readonly made: readonly [killed: number, again: number];
  readonly answer: Answer<InvokeAnswer>;
}

/** A host that waits does so for as long as it takes; that it has not answered by then is enough. */
const WAITED_MS = 300;

export type Change = "add" | "set";

/** Where the host stops, or after which part of the time that the call takes. */
type Moment = { readonly stopAt: "before" | "after" } | { readonly afterPart: number };

interface KillOptions {
  /** Another host makes the same call while the first is still at it. */
  readonly meanwhile?: boolean;
}

/** A host that is killed during the call, which is made again then. */
export async function killDuring(
  home: string,
  operation: Change,
  key: string,
  when: Moment,
  { meanwhile = false }: KillOptions = {},
): Promise<KilledCall> {
  const shelf = await linkShelf(home, OWNER);
  const text = `note of ${key}`;
  const request = { capability: PAD, operation, input: { text }, idempotencyKey: key };
  const note = operation === "set" ? noteOfKey(text, key) : text;
  const count = (): number => notesOf(home, shelf).filter((other) => other === note).length;
  const again = (): Promise<Answer<InvokeAnswer>> =>
    openNotes(home).invoke(OWNER, request, { confirm: () => "yes" });
  let waiting: Promise<Answer<InvokeAnswer>> | undefined;
  const told = await killHost(home, request, when, async () => {
    if (!meanwhile) return;
    waiting = again();
    const early = await Promise.race([waiting, pause(WAITED_MS)]);
    if (early) throw new Error(`The second host did not wait: ${JSON.stringify(early)}`);
  });
  const killed = count();
  const answer = await (waiting ?? again());
  return { told, made: [killed, count()], answer };
}

async function killHost(
  home: string,
  request: InvokeRequest,
  when: Moment,
  beforeKill: () => Promise<void>,
): Promise<readonly string[]> {
  const host = spawn(process.execPath, [CHILD, home], { stdio: ["pipe", "pipe", "inherit"] });
  const isGone = new Promise((resolve) => host.once("close", resolve));
  const told: string[] = [];
  const heard = listen(host, told);
  try {
    const [, duration] = (await heard("ready")).split(" ");
    const task: KillTask = "stopAt" in when ? { request, stopAt: when.stopAt } : { request };
    host.stdin.write(`${JSON.stringify(task)}\n`);
    await ("stopAt" in when ? heard(when.stopAt) : pause(Number(duration) * when.afterPart));
    await beforeKill();
  } finally {
    host.kill("SIGKILL");
    await isGone;
  }
  return told.slice(1);
}

/** Notes every line, and waits for one by its first word. A host that ends before it says it is a fault. */
function listen(host: ChildProcess, told: string[]): (word: string) => Promise<string> {
  if (!host.stdout) throw new Error("The host has no output.");
  const lines = createInterface({ input: host.stdout }).on("line", (line) => told.push(line));
  return (word) =>
    new Promise((resolve, reject) => {
      const look = (line: string): void => {
        if (line.split(" ")[0] === word) resolve(line);
      };
      lines.on("line", look);
      for (const line of told) look(line);
      host.once("close", () => reject(new Error(`The host ended without \`${word}\`: ${told.join(", ")}`)));
    });
}

export interface KillReport {
  /** Calls that were cut off, by what the host had told last; `nothing`: before the provider was asked. */
  readonly cutOff: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/** Random moments; half of the calls are idempotent. */
export async function killOften(home: string, kills: number, seed: number): Promise<KillReport> {
  const random = createRandom(seed);
  const cutOff: Record<string, number> = {};
  const faults: string[] = [];
  for (let number = 0; number < kills && faults.length === 0; number++) {
    const operation = number % 2 === 0 ? "add" : "set";
    const call = await killDuring(home, operation, `key-${seed}-${number}`, {
      afterPart: random() * MOST_PARTS,
    });
    const last = call.told.at(-1) ?? "nothing";
    cutOff[last] = (cutOff[last] ?? 0) + 1;
    const fault = judge(operation, call);
    if (fault !== undefined) faults.push(`Kill ${number} (${operation}, after ${last}): ${fault}`);
  }
  return { cutOff, faults };
}

/** Some are killed after the result was told. */
const MOST_PARTS = 1.3;

function judge(operation: Change, { told, made: [killed, again], answer }: KilledCall): string | undefined {
  if (again > 1) return `The change was made ${again} times.`;
  if (told.includes("done") && !(answer.ok && answer.value.isRepeat))
    return "A result that was told is not known.";
  if (answer.ok) return again === 1 ? undefined : "It is said to be made, and was not.";
  if (operation === "set") return `An idempotent change was not repeated: ${answer.fault.message}`;
  if (answer.fault.code !== "capability_outcome_unknown") return answer.fault.message;
  return again === killed ? undefined : "It was made again although nobody knew.";
}
