/**
 * Descriptors that Metier inherited (from a shell, a build tool, a service manager) and would pass to every program it
 * starts: an open folder among them leads out of any sandbox. Node closes its own, and only the lowest of these.
 */
import { openSync, readdirSync, readFileSync } from "node:fs";

const CLOSED_ON_START = 0o2000000;
const FIRST_AFTER_STREAMS = 3;

/** For each position starting at `first`, what `spawn` must put there; empty if nothing would be inherited. */
export function coverInherited(first: number): readonly ("ignore" | number)[] {
  const last = Math.max(-1, ...inherited());
  return Array.from({ length: Math.max(0, last + 1 - first) }, (_, index) =>
    inherited().includes(first + index) ? nothing() : "ignore",
  );
}

/** Nobody adds to them while we run. */
let found: readonly number[] | undefined;

function inherited(): readonly number[] {
  found ??= listDescriptors().filter((number) => number >= FIRST_AFTER_STREAMS && isInherited(number));
  return found;
}

let opened: number | undefined;

function nothing(): number {
  opened ??= openSync("/dev/null", "r");
  return opened;
}

function listDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return []; // Not Linux: no sandbox of ours starts programs there.
  }
}

function isInherited(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0;
  } catch {
    return false; // It was open only to list the others.
  }
}
