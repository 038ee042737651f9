/** The second thread's work on an unchanged root (`second-thread.ts`): it compares stamps from the end of the index. */
import { isUnchanged } from "./stamps.ts";
import { CHANGED, PROGRESS, type StampTask } from "./thread-tasks.ts";

/** Entries between two looks at the other thread. */
const STEP = 64;

/** Says from which place on nothing has changed, until it meets the other thread or finds a change. */
export function checkFromEnd({ root, bytes, start, end, writtenAt, places }: StampTask): void {
  const text = Buffer.from(bytes).toString("utf8");
  let to = end;
  for (let count = 1; to > start; count++) {
    const stampEnd = text.lastIndexOf("\n", to - 2);
    const keyEnd = text.lastIndexOf("\n", stampEnd - 1);
    const from = text.lastIndexOf("\n", keyEnd - 1) + 1;
    if (
      from < start ||
      !isUnchanged(root, text.slice(from, keyEnd), text.slice(keyEnd + 1, stampEnd), writtenAt)
    ) {
      Atomics.store(places, PROGRESS.checkedFrom, CHANGED);
      return;
    }
    to = from;
    if (count % STEP > 0 && to > start) continue;
    Atomics.store(places, PROGRESS.checkedFrom, to);
    if (Atomics.load(places, PROGRESS.reached) >= to) return;
  }
}
