/** The program of the second thread. It loads the rest once it knows where compiled code is kept, as the process does. */
import { enableCompileCache } from "node:module";
import { workerData } from "node:worker_threads";
import type { FetchTask, StampTask } from "./second-thread.ts";

const task: FetchTask | StampTask = workerData;
if (task.compileCache !== undefined) enableCompileCache(task.compileCache);
if ("places" in task) {
  const { checkFromEnd } = await import("./check-stamps.ts");
  checkFromEnd(task);
} else {
  const { fetchBatches } = await import("./fetch-ahead.ts");
  fetchBatches(task);
}
