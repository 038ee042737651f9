/**
 * The log of a run that another process may be writing: only what was added is read. An incomplete line waits for its
 * end; a log that was cut or replaced is read again.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { parseEventLines, type RunEvent } from "@metier/run/events";

interface ReadLog {
  /** Which file it was. */
  readonly inode: number;
  /** Up to the end of the last whole line. */
  readonly bytes: number;
  readonly events: readonly RunEvent[];
}

interface LogFollower {
  /** In order; none when there is no log, or it cannot be read. */
  events(file: string): readonly RunEvent[];
}

/** Of all logs that are held; the one read last is always. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_PART = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

export function openLogFollower(): LogFollower {
  /** The one used last is last. */
  const held = new Map<string, ReadLog>();
  const drop = (): void => {
    let sum = [...held.values()].reduce((total, { bytes }) => total + bytes, 0);
    for (const [file, { bytes }] of held) {
      if (sum <= MOST_BYTES || held.size === 1) return;
      held.delete(file);
      sum -= bytes;
    }
  };
  return {
    events(file) {
      const log = readOn(file, held.get(file));
      held.delete(file);
      if (log === undefined) return [];
      held.set(file, log);
      drop();
      return log.events;
    },
  };
}

function readOn(file: string, known: ReadLog | undefined): ReadLog | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const { ino: inode, size } = fstatSync(descriptor);
    const before = known?.inode === inode && known.bytes <= size ? known : undefined;
    const { bytes: from, events } = before ?? { bytes: 0, events: [] };
    if (size === from) return before ?? { inode, bytes: 0, events: [] };
    const part = Buffer.alloc(Math.min(size - from, MOST_PART));
    const read = part.subarray(0, readSync(descriptor, part, 0, part.length, from));
    const whole = read.subarray(0, read.lastIndexOf(NEWLINE) + 1);
    const added = parseEventLines(whole.toString("utf8")).events;
    return { inode, bytes: from + whole.length, events: added.length === 0 ? events : [...events, ...added] };
  } catch {
    return undefined; // Whoever asks sees a run without events.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
