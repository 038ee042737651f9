/** By what the database knows a change again that it has made already, when its answer was lost. */
import { randomInt } from "node:crypto";

/** What `randomInt` gives at most. */
const MOST = 2 ** 48 - 1;

export function newNumber(): number {
  return randomInt(MOST);
}
