/** The processor time of a process and everything it started, including children that have ended. */
import { readdirSync, readFileSync } from "node:fs";

/** Linux reports the same tick on every machine. */
const MS_PER_TICK = 10;

/** @param {number} pid @returns {number} milliseconds */
export function processorTime(pid) {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      // The name in parentheses may contain anything, so reading starts after the last parenthesis.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      const [parent, ...times] = [fields[1], ...fields.slice(11, 15)].map(Number);
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = times;
      if (Number(name) === pid) ticks += user + system + endedUser + endedSystem;
      else if (parent === pid) ticks += user + system;
    } catch {
      // It ended in the meantime, and its time counts for its parent now.
    }
  }
  return ticks * MS_PER_TICK;
}
