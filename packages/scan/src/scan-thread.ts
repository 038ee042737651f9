/** The program of a scan thread: takes skills from the shared list and reports what it finds. */
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { ScanAnswers, ScanThreadData } from "./scan-pool.ts";
import type { ScanJob, ScanReport } from "./scan-skill.ts";

/** Answers sent together. */
const BATCH = 16;

const { options, cacheFolder, next, compileCache } = workerData as ScanThreadData;
if (compileCache !== undefined) enableCompileCache(compileCache);
const { scanJob, loadScan } = await import("./scan-skill.ts");
const { openKnown, take } = await import("./scan-pool.ts");
const known = openKnown(options, cacheFolder);
await loadScan();

const jobs: ScanJob[] = [];
let isBusy = false;

async function work(): Promise<void> {
  if (isBusy) return;
  isBusy = true;
  let answers: ScanAnswers["answers"][number][] = [];
  const say = (through: number): void => {
    parentPort?.postMessage({ answers, through } satisfies ScanAnswers);
    answers = [];
  };
  for (let index = take(next, jobs.length); index !== undefined; index = take(next, jobs.length)) {
    answers.push([index, await tryToScan(jobs[index])]);
    if (answers.length >= BATCH) say(0);
  }
  isBusy = false;
  say(jobs.length);
}

/** What cannot be scanned here is scanned again by the main thread, which then gets the error. */
async function tryToScan(job: ScanJob | undefined): Promise<ScanReport | undefined> {
  try {
    return job && (await scanJob(job, options, known?.recallFor(job)));
  } catch {
    return undefined;
  }
}

parentPort?.on("message", (more: readonly ScanJob[]) => {
  jobs.push(...more);
  void work();
});
