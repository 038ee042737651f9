/**
 * Coordination: one process at a time changes a file (`withLock`), a limited number of calls run at once
 * (`mapBounded`), work runs with other work or alone (`createTurns`), and a shared value is made by the first caller
 * (`once`). A lock file next to the file, created exclusively, names its holder. A dead process's lock is removed at
 * once and a stuck one's after a while, by one process at a time.
 */
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { MetierError } from "./errors.ts";
import { isAlive } from "./programs.ts";
import { randomMark } from "./text.ts";

export { dropOldest } from "./bounded.ts";

/** No holder needs a hundredth of this; one that took longer asks `isHeld` before it writes. */
const STALE_AFTER_MS = 5_000;
/** Removing a lock takes two file operations. */
const CLAIM_STALE_AFTER_MS = 1_000;
/** A holder writes its name at once; one that hasn't was killed first. */
const NAMELESS_STALE_AFTER_MS = 1_000;
const GIVE_UP_AFTER_MS = 15_000;
const PAUSE_MS = 5;

/**
 * Runs `change` while holding the lock of `file`; waits for other holders. `isHeld` says whether this call still holds
 * it.
 */
export function withLock<T>(file: string, change: (isHeld: () => boolean) => T): T {
  const lock = `${file}.lock`;
  const token = `${process.pid} ${hostname()} ${randomMark()}`;
  const isHeld = (): boolean => readLock(lock)?.token === token;
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
  acquire(lock, token);
  try {
    return change(isHeld);
  } finally {
    if (isHeld()) rmSync(lock, { force: true });
  }
}

function acquire(lock: string, token: string): void {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  while (!createExclusively(() => writeFileSync(lock, token, { flag: "wx", mode: 0o600 }))) {
    if (Date.now() > giveUpAt) {
      throw new MetierError("internal.fault", `Another process has held \`${lock}\` for too long.`, {
        hint: "If no other Metier is running, delete that file and try again.",
      });
    }
    if (isAbandoned(lock)) takeAway(lock);
    else pause();
  }
}

/** `false` if the file already existed. */
function createExclusively(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes an abandoned lock. The second name ensures that only one process does it, and that it removes the lock it
 * judged: otherwise the slower of two could remove the lock that the faster has just made.
 */
function takeAway(lock: string): void {
  const claim = `${lock}.abandoned`;
  try {
    if (!createExclusively(() => linkSync(lock, claim))) {
      const claimed = readLock(claim);
      if (claimed && Date.now() - claimed.linkedAt > CLAIM_STALE_AFTER_MS) rmSync(claim, { force: true });
      pause();
      return;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return; // The holder released it meanwhile.
    throw error;
  }
  if (isAbandoned(claim)) rmSync(lock, { force: true });
  rmSync(claim, { force: true });
}

function isAbandoned(lock: string): boolean {
  const read = readLock(lock);
  if (!read) return false;
  const age = Date.now() - read.madeAt;
  if (read.token === "") return age > NAMELESS_STALE_AFTER_MS;
  const [pid, host] = read.token.split(" ");
  return (host === hostname() && !isAlive(Number(pid))) || age > STALE_AFTER_MS;
}

interface LockState {
  readonly token: string;
  readonly madeAt: number;
  /** When it got or lost a second name. */
  readonly linkedAt: number;
}

function readLock(lock: string): LockState | undefined {
  try {
    const stats = lstatSync(lock);
    // Next to a project's file the name may be anything, even a link to an endless device.
    const token = stats.isFile() ? readFileSync(lock, "utf8") : "";
    return { token, madeAt: stats.mtimeMs, linkedAt: stats.ctimeMs };
  } catch {
    return undefined; // Released meanwhile.
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

/**
 * Like `Promise.all` over a list, with a limit on concurrent work. After a fault nothing new starts; the fault is
 * thrown once the running work has ended, so that no work continues behind the caller's back.
 */
export async function mapBounded<Item, Value>(
  items: readonly Item[],
  most: number,
  act: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  const faults: unknown[] = [];
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) {
      if (faults.length > 0) return;
      try {
        values[index] = await act(item);
      } catch (fault) {
        faults.push(fault); // Thrown below.
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  if (faults.length > 0) throw faults[0];
  return values;
}

/** Work now running in this process; each caller gets only its own fault. */
export interface Turns {
  /** Together with others of its kind. */
  beside<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Alone; anything that arrives meanwhile waits. */
  alone<Value>(work: () => Promise<Value>): Promise<Value>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  const underWay = new Set<Promise<unknown>>();
  return {
    beside(work) {
      const working = last.then(work);
      const settled = working.catch(() => undefined).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return working;
    },
    alone(work) {
      const before = [...underWay, last];
      const working = Promise.all(before).then(work);
      last = working.catch(() => undefined);
      return working;
    },
  };
}

/** Made on first request, then kept. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
