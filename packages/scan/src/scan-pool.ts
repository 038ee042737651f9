/**
 * Scans many skills on several cores: this thread and others take the next skill from one list until it is empty. The
 * reports equal those of `scanSkill`, in the order in which skills were added. If no thread is available, or one is
 * lost, this one does the work.
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
  /** Where known scans of the same content are stored. */
  readonly cacheFolder: string | undefined;
  /** One number: the next job nobody has taken. */
  readonly next: Int32Array<SharedArrayBuffer>;
  readonly compileCache: string | undefined;
}

/** Without a report, the job could not be done there. */
type ScanAnswer = readonly [index: number, report: ScanReport | undefined];

/** A thread's message. */
export interface ScanAnswers {
  readonly answers: readonly ScanAnswer[];
  /** For this many jobs, it knows that others took what it did not take, or that it answered them. */
  readonly through: number;
}

export interface ScanPool {
  /** Work may start at once. */
  add(job: ScanJob): void;
  /** Starts threads for skills that will be added. */
  warm(): void;
  /** Call once, when all are added. `onSkill` is called before each. */
  finish(onSkill?: (done: number, total: number) => void): Promise<readonly ScanReport[]>;
  /** Stops all threads, whatever they do. Always call it. */
  close(): Promise<void>;
}

/** Starting a thread takes as long as scanning this many skills. */
const WORTH_A_THREAD = 24;
const MOST_THREADS = 3;
/** How many go to the threads together, to save messages; fewer when this thread's turn ends. */
const BATCH = 8;
/** How many this thread scans between two checks for the others' answers. */
const TURN = 8;

/** `cacheFolder`: where results are stored for the next scan of the same content. */
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
    for (const { worker } of threads) worker.postMessage(jobs.slice(sent));
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
      else if (jobs.length - sent === 1) queueMicrotask(send);
    },
    warm,
    async finish(onSkill) {
      const total = jobs.length;
      tell = startTelling(done, total, onSkill);
      send();
      const first = takeFirst(next, total, threads?.length ?? 0);
      for (let index = first, turn = 0; index !== undefined; index = take(next, total)) {
        await scanHere(index);
        if (threads?.length && ++turn % TURN === 0) await setImmediate();
      }
      await Promise.all((threads ?? []).map((thread) => thread.isThrough(total)));
      // A lost thread took some of them with it.
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

/** Including those done before someone asked. */
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

/** A report without a digest cannot be identified, so it is not stored. */
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

/** The next known job; `undefined` if others took them all. */
export function take(next: Int32Array<SharedArrayBuffer>, known: number): number | undefined {
  for (let index = Atomics.load(next, 0); index < known; ) {
    const seen = Atomics.compareExchange(next, 0, index, index + 1);
    if (seen === index) return index;
    index = seen;
  }
  return undefined;
}

/** `undefined` also if the threads are faster with the few that are left than this one is with loading the grammars. */
function takeFirst(next: Int32Array<SharedArrayBuffer>, known: number, threads: number): number | undefined {
  const left = known - Atomics.load(next, 0);
  return threads === 0 || left >= WORTH_A_THREAD ? take(next, known) : undefined;
}

interface ScanThread {
  readonly worker: Worker;
  /** Resolves when nothing more of this many jobs will come from it: it said so, or it is gone. */
  isThrough(jobs: number): Promise<void>;
}

function startThreads(workerData: ScanThreadData, keep: (answer: ScanAnswer) => void): ScanThread[] {
  const file = findThreadProgram("scan/src/scan-thread.ts", "dist/threads/scan.js");
  const count = file === undefined ? 0 : Math.min(availableParallelism() - 1, MOST_THREADS);
  try {
    return Array.from({ length: count }, () => startThread(file ?? "", workerData, keep));
  } catch {
    return []; // A host that does not allow threads.
  }
}

function startThread(
  file: string,
  workerData: ScanThreadData,
  keep: (answer: ScanAnswer) => void,
): ScanThread {
  // The thread needs none of the program's arguments, and its output is not ours.
  const quiet = { execArgv: [], env: {}, stdout: true, stderr: true };
  // A scan leaves many short-lived objects: with more room for them, the garbage collector runs less often.
  const resourceLimits = { maxYoungGenerationSizeMb: 64 };
  const worker = new Worker(file, { workerData, resourceLimits, ...quiet });
  let known = 0;
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("error", () => undefined); // It is gone, and this thread does what it took.
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
