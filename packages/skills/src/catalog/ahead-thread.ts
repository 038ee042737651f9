/** The program of the second thread: takes batches from the last to the first, until it meets the other thread. */
import { workerData } from "node:worker_threads";
import { readFolders } from "./read-ahead.ts";
import { AHEAD_BATCH, type AheadAnswer, type AheadTask, STATE } from "./second-thread.ts";

const { port, states, root, folders, profile }: AheadTask = workerData;

for (let batch = states.length - 1; batch >= 0; batch--) {
  if (Atomics.compareExchange(states, batch, STATE.free, STATE.there) !== STATE.free) break;
  const names = folders.slice(batch * AHEAD_BATCH, (batch + 1) * AHEAD_BATCH);
  let isDone = false;
  try {
    const answer: AheadAnswer = { batch, entries: await readFolders(root, names, profile) };
    port.postMessage(answer);
    isDone = true;
  } catch {
    // The other thread meets the same fault when it reads them itself, and says what it is.
  }
  Atomics.store(states, batch, isDone ? STATE.done : STATE.failed);
  Atomics.notify(states, batch);
}
port.close();
