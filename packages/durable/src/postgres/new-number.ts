/** How the database recognizes a change it has already made, if its answer was lost. */
import { randomInt } from "node:crypto";

/** The largest range that `randomInt` accepts. */
const MOST = 2 ** 48 - 1;

export function newNumber(): number {
  return randomInt(MOST);
}
