/**
 * Many skills at once, on more than one core: this thread and further ones take the next skill from one list, until none is
 * left. The reports are those of `scanSkill`, in the order in which the skills were added. Where no thread can be had, or one
 * is lost, this one does the work.
 */
import { getCompileCacheDir } from "node:module";
import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import { openKnownScans, startKeys } from "./known-scans.ts";
import {
  type RecallScan,
  type ScanJob,
  type ScanReport,
  type ScanSkillOptions,
  scanJob,
  toContent,
} from "./scan-skill.ts";

/** What a thread starts with. */
export interface ScanThreadData {
  readonly options: ScanSkillOptions;
  /** Where scans of the same content are known from. */
  readonly cacheFolder: string | undefined;
  /** One number: the job that nobody has taken yet. */
  readonly next: Int32Array<SharedArrayBuffer>;
  readonly compileCache: string | undefined;
}

/** Without a report, the job could not be done there. */
type ScanAnswer = readonly [index: number, report: ScanReport | undefined];

/** What a thread says. */
export interface ScanAnswers {
  readonly answers: readonly ScanAnswer[];
  /** Of so many jobs it knows that others took what it did not take, or that it answered them. */
  readonly through: number;
}

export interface ScanPool {
  /** It may be begun at once. */
  add(job: ScanJob): void;
  /** Starts threads for skills that are going to be added. */
  warm(): void;
  /** Once, when all are added. `onSkill` is told before each. */
  finish(onSkill?: (done: number, total: number) => void): Promise<readonly ScanReport[]>;
  /** Ends all threads, whatever they do. To be called in any case. */
  close(): Promise<void>;
}

/** A thread takes as long to start as so many skills. */
const WORTH_A_THREAD = 24;
const MOST_THREADS = 3;
/** How many go to the threads together, so that each of them is no message of its own. */
const BATCH = 32;
/** Of this thread, between two looks at what the others say. */
const TURN = 8;

/** `cacheFolder`: where what was found is kept, for the next time that the same content is scanned. */
export function openScanPool(options: ScanSkillOptions = {}, cacheFolder?: string): ScanPool {
  const jobs: ScanJob[] = [];
  const reports: (ScanReport | undefined)[] = [];
  const next = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let threads: ScanThread[] | undefined;
  let sent = 0;
  let done = 0;
  let tell: (done: number) => void = () => undefined;

  const known = openKnown(options, cacheFolder);
  const keep = ([index, report]: ScanAnswer): void => {
    const job = jobs[index];
    if (report === undefined || job === undefined) return;
    known?.keep(job, report);
    reports[index] = report;
    done++;
    tell(done);
  };
  const warm = (): void => {
    threads ??= startThreads({ options, cacheFolder, next, compileCache: getCompileCacheDir() }, keep);
  };
  const send = (): void => {
    if (sent === jobs.length || !threads) return;
    const batch = jobs.slice(sent);
    for (const { worker } of threads) worker.postMessage(batch);
    sent = jobs.length;
  };
  const scanHere = async (index: number): Promise<void> => {
    const job = jobs[index];
    if (job !== undefined) keep([index, await scanJob(job, options, known?.recallFor(job))]);
  };

  return {
    add(job) {
      jobs.push(job);
      if (jobs.length >= WORTH_A_THREAD) warm();
      if (jobs.length - sent >= BATCH) send();
    },
    warm,
    async finish(onSkill) {
      const total = jobs.length;
      tell = startTelling(done, total, onSkill);
      send();
      for (let index = take(next, total), turn = 0; index !== undefined; index = take(next, total)) {
        await scanHere(index);
        if (threads?.length && ++turn % TURN === 0) await setImmediate();
      }
      await Promise.all((threads ?? []).map((thread) => thread.isThrough(total)));
      // A thread that was lost took some of them with it.
      for (let index = 0; index < total; index++) if (reports[index] === undefined) await scanHere(index);
      known?.save();
      return reports.flatMap((report) => report ?? []);
    },
    async close() {
      await Promise.all((threads ?? []).map(({ worker }) => worker.terminate()));
      threads = [];
    },
  };
}

/** Of those that were done before someone asked, too. */
function startTelling(
  done: number,
  total: number,
  onSkill: ((done: number, total: number) => void) | undefined,
): (done: number) => void {
  for (let told = 0; told <= Math.min(done, total - 1); told++) onSkill?.(told, total);
  return (now) => {
    if (now < total) onSkill?.(now, total);
  };
}

interface KnownJobs {
  recallFor(job: ScanJob): RecallScan;
  keep(job: ScanJob, report: ScanReport): void;
  save(): void;
}

/** A report without a digest is of something that cannot be told from something else, and is not kept. */
export function openKnown(options: ScanSkillOptions, cacheFolder: string | undefined): KnownJobs | undefined {
  if (cacheFolder === undefined) return undefined;
  const scans = openKnownScans(cacheFolder);
  const keyOf = startKeys(options);
  return {
    recallFor: (job) => (digest, content) =>
      scans.isEmpty() ? undefined : scans.recall(keyOf(digest, content, job)),
    keep(job, report) {
      if (report.digest !== undefined) scans.keep(keyOf(report.digest, toContent(job.subject), job), report);
    },
    save: () => scans.save(),
  };
}

/** The next job of those that are known; `undefined` when others took them all. */
export function take(next: Int32Array<SharedArrayBuffer>, known: number): number | undefined {
  for (let index = Atomics.load(next, 0); index < known; ) {
    const seen = Atomics.compareExchange(next, 0, index, index + 1);
    if (seen === index) return index;
    index = seen;
  }
  return undefined;
}

interface ScanThread {
  readonly worker: Worker;
  /** When nothing of so many jobs is to come from it any more: it said so, or it is gone. */
  isThrough(jobs: number): Promise<void>;
}

function startThreads(workerData: ScanThreadData, keep: (answer: ScanAnswer) => void): ScanThread[] {
  const file = findThreadProgram("scan/src/scan-thread.ts", "dist/threads/scan.js");
  const count = file === undefined ? 0 : Math.min(availableParallelism() - 1, MOST_THREADS);
  try {
    return Array.from({ length: count }, () => startThread(file ?? "", workerData, keep));
  } catch {
    return []; // A host that allows no threads.
  }
}

function startThread(
  file: string,
  workerData: ScanThreadData,
  keep: (answer: ScanAnswer) => void,
): ScanThread {
  // What the program was started with is none of its business, nor is what it prints there ours.
  const quiet = { execArgv: [], env: {}, stdout: true, stderr: true };
  // A skill leaves many short-lived objects behind: with more room for them, less is looked through to free it.
  const resourceLimits = { maxYoungGenerationSizeMb: 64 };
  const worker = new Worker(file, { workerData, resourceLimits, ...quiet });
  let known = 0;
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("error", () => undefined); // It is gone then, and what it took is done by this thread.
  worker.on("message", ({ answers, through }: ScanAnswers) => {
    answers.forEach(keep);
    known = through;
  });
  return {
    worker,
    isThrough(jobs) {
      const said = new Promise<void>((resolve) => {
        const look = (): void => {
          if (known >= jobs) resolve();
        };
        worker.on("message", look);
        look();
      });
      return Promise.race([said, ended]);
    },
  };
}
