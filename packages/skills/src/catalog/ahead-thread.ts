/** The program of the second thread. It loads the rest when it knows where compiled code is kept, as the process does. */
import { enableCompileCache } from "node:module";
import { workerData } from "node:worker_threads";
import type { AheadTask } from "./second-thread.ts";

const task: AheadTask = workerData;
if (task.compileCache !== undefined) enableCompileCache(task.compileCache);
const { readBatches } = await import("./read-ahead.ts");
await readBatches(task);
