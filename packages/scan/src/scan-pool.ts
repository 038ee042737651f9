/**
 * Scans many skills on several cores: this thread and others take the next skill from one list until it is empty. The
 * reports equal those of `scanSkill`, in the order in which skills were added. If no thread is available, or one is
 * lost, this one does the work.
 */
import { getCompileCacheDir } from "node:module";
import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
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

type OnSkill = (done: number, total: number) => void;

export interface ScanPool {
  /** Work may start at once. */
  add(job: ScanJob): void;
  /** From now on skills come one by one, while others, such as git, use this machine as well. */
  begin(): void;
  /** Call once, when all are added. `onSkill` is called before each. */
  finish(onSkill?: OnSkill): Promise<readonly ScanReport[]>;
  /** Stops all threads, whatever they do. Always call it. */
  close(): Promise<void>;
}

/** Starting a thread takes as long as scanning this many skills. */
const WORTH_A_THREAD = 24;
/** If no core is free, it costs more: it takes time from others, and has everything to load once more. */
const WORTH_ANOTHER = 400;
/** This thread's, and one for whoever works meanwhile. */
const BUSY_CORES = 2;
const MOST_THREADS = 3;
/** How many go to the threads together, to save messages; fewer when this thread's turn ends. */
const BATCH = 8;
/** How many this thread scans between two checks for the others' answers. */
const TURN = 8;

/** `cacheFolder`: where results are stored for the next scan of the same content. `cores`: for tests. */
export function openScanPool(
  options: ScanSkillOptions = {},
  cacheFolder?: string,
  cores: number = availableParallelism(),
): ScanPool {
  const { jobs, scan, keep, tell, collect } = openScans(options, cacheFolder);
  const next = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let threads: ScanThread[] | undefined;
  let pauses: Pauses | undefined;
  let sent = 0;

  const start = (): void => {
    const data = { options, cacheFolder, next, compileCache: getCompileCacheDir() };
    threads ??= startThreads(Math.min(cores - 1, MOST_THREADS), data, keep);
  };
  const send = (): void => {
    if (sent === jobs.length || !threads) return;
    for (const { worker } of threads) worker.postMessage(jobs.slice(sent));
    sent = jobs.length;
  };
  const scanNext = async (): Promise<boolean> => {
    const index = take(next, jobs.length);
    if (index !== undefined) await scan(index).catch(() => undefined); // `collect` does it again, and fails.
    return index !== undefined;
  };

  return {
    add(job) {
      const waiting = jobs.push(job) - Atomics.load(next, 0);
      if (waiting >= (pauses ? WORTH_ANOTHER : WORTH_A_THREAD)) start();
      if (jobs.length - sent >= BATCH) send();
      else if (jobs.length - sent === 1) queueMicrotask(send);
      pauses?.use();
    },
    begin() {
      if (cores > BUSY_CORES) start();
      else pauses ??= workInPauses(scanNext);
    },
    async finish(onSkill) {
      await pauses?.end();
      const total = jobs.length;
      tell(onSkill);
      send();
      const first = takeFirst(next, total, threads?.length ?? 0);
      for (let index = first, turn = 0; index !== undefined; index = take(next, total)) {
        await scan(index);
        if (threads?.length && ++turn % TURN === 0) await setImmediate();
      }
      await Promise.all((threads ?? []).map((thread) => thread.isThrough(total)));
      return collect();
    },
    async close() {
      await pauses?.end();
      await Promise.all((threads ?? []).map(({ worker }) => worker.terminate()));
      threads = [];
    },
  };
}

interface Scans {
  readonly jobs: ScanJob[];
  /** Scans one on this thread. */
  scan(index: number): Promise<void>;
  /** Keeps what a thread answered. */
  keep(answer: ScanAnswer): void;
  /** Tells of those that are done and of those that will be. */
  tell(onSkill: OnSkill | undefined): void;
  /** All reports. What a lost thread took with it is scanned here. */
  collect(): Promise<readonly ScanReport[]>;
}

function openScans(options: ScanSkillOptions, cacheFolder: string | undefined): Scans {
  const jobs: ScanJob[] = [];
  const reports: (ScanReport | undefined)[] = [];
  const known = openKnown(options, cacheFolder);
  let done = 0;
  let onDone: (done: number) => void = () => undefined;

  const keep = ([index, report]: ScanAnswer): void => {
    const job = jobs[index];
    if (report === undefined || job === undefined) return;
    known?.keep(job, report);
    reports[index] = report;
    done++;
    onDone(done);
  };
  const scan = async (index: number): Promise<void> => {
    const job = jobs[index];
    if (job !== undefined) keep([index, await scanJob(job, options, known?.recallFor(job))]);
  };
  return {
    jobs,
    scan,
    keep,
    tell(onSkill) {
      onDone = startTelling(done, jobs.length, onSkill);
    },
    async collect() {
      for (const index of jobs.keys()) if (reports[index] === undefined) await scan(index);
      known?.save();
      return reports.flatMap((report) => report ?? []);
    },
  };
}

interface Pauses {
  /** There is something to do. */
  use(): void;
  end(): Promise<void>;
}

/** Does one step after the other when this thread has nothing else to do. `step` returns whether there was one. */
function workInPauses(step: () => Promise<boolean>): Pauses {
  let working: Promise<void> | undefined;
  let hasEnded = false;
  const work = async (): Promise<void> => {
    for (let isOn = true; isOn; isOn = !hasEnded && (await step())) await setImmediate();
    working = undefined;
  };
  return {
    use() {
      if (!hasEnded) working ??= work();
    },
    async end() {
      hasEnded = true;
      await working;
    },
  };
}

/** Including those done before someone asked. */
function startTelling(done: number, total: number, onSkill: OnSkill | undefined): (done: number) => void {
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

function startThreads(
  count: number,
  workerData: ScanThreadData,
  keep: (answer: ScanAnswer) => void,
): ScanThread[] {
  const file = findThreadProgram("scan/src/scan-thread.ts", "dist/threads/scan.js");
  if (file === undefined) return [];
  try {
    return Array.from({ length: count }, () => startThread(file, workerData, keep));
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
  const worker = new (process.getBuiltinModule("node:worker_threads").Worker)(file, {
    workerData,
    resourceLimits,
    ...quiet,
  });
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
