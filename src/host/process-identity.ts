/** Which process it is, beyond its number: numbers pass to others, and in a container always to the same few. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isAlive } from "./process-alive.ts";

export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** When it began, in ticks since the machine did; absent where the system does not say. */
  readonly born?: string;
}

export function identifyProcess(pid: number = process.pid): ProcessIdentity {
  const born = readBirth(pid);
  return { host: hostname(), pid, ...(born !== undefined && { born }) };
}

/** `undefined`: it is of another machine, which cannot be asked. */
export function isStillAlive({ host, pid, born }: ProcessIdentity): boolean | undefined {
  if (host !== hostname()) return undefined;
  return isAlive(pid) && (born === undefined || readBirth(pid) === born);
}

/** The 22nd field; the second one, the name in parentheses, may hold anything. */
function readBirth(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined; // Another system than Linux, or the process is gone.
  }
}
