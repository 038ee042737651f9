/** The program of the second thread: it waits for its task, does it and ends. */
import { parentPort } from "node:worker_threads";
import { checkFromEnd } from "./check-stamps.ts";
import { fetchBatches } from "./fetch-ahead.ts";
import type { ThreadTask } from "./thread-tasks.ts";

parentPort?.once("message", (task: ThreadTask | undefined) => {
  if (task?.kind === "fetch") fetchBatches(task);
  if (task?.kind === "check-stamps") checkFromEnd(task);
  parentPort?.close();
});
