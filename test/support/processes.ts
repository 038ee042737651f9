/** Finds processes of this machine by a mark in their command line, also those inside a sandbox. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** The command lines of all processes that hold the mark. */
export function processesWith(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(commandLine)
    .filter((command) => command.includes(mark));
}

/** The ids of all processes below that one, also those inside a sandbox. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const below = (parent: number): readonly number[] =>
    parents.flatMap(([child, its]) => (its === parent ? [child, ...below(child)] : []));
  return below(pid);
}

/** A name in parentheses may hold anything, so what follows the last one is read. */
function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // It ended between the listing and the reading.
  }
}

/** How many processes are a `sleep` for that mark: a number of seconds that nothing else waits for. */
export function sleepersOf(mark: string): number {
  return processesWith(mark).filter((command) => command.startsWith("sleep ")).length;
}

/** With spaces between its words; empty if it has ended. */
export function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // Perhaps only now, since it was listed.
  }
}

const PATIENCE_MS = 90_000;

/** Waits until the condition holds; gives up, loudly, after a long while. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`Waited in vain until ${what}.`);
    await pause(20);
  }
}
