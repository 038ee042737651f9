/** What a process and all that it has started cost the processor so far, also those that have ended. */
import { readdirSync, readFileSync } from "node:fs";

/** Of Linux, on every machine there is. */
const MS_PER_TICK = 10;

/** @param {number} pid @returns {number} milliseconds */
export function processorTime(pid) {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      // A name in parentheses may hold anything, so what follows the last one is read.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      const [parent, ...times] = [fields[1], ...fields.slice(11, 15)].map(Number);
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = times;
      if (Number(name) === pid) ticks += user + system + endedUser + endedSystem;
      else if (parent === pid) ticks += user + system;
    } catch {
      // It ended meanwhile: its parent has its time now.
    }
  }
  return ticks * MS_PER_TICK;
}
