/**
 * Makes the folders, files and links of a large tree on another thread. The system takes long to make one, and longer right
 * after many were deleted; this thread checks what is already there. Without a thread, this one makes them.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import { type MakeBatches, packBatches } from "./make-batches.ts";
import { startNativeMaker } from "./native-maker.ts";
import { rememberWritten, type WrittenContent, type WrittenFiles } from "./written-files.ts";

/** Makes one after the other. Paths are absolute, and a folder comes before what is in it. */
export interface TreeMaker {
  makeFolder(path: string): void;
  /** Only a new file. The bytes must not change afterwards: they are kept. */
  writeFile(path: string, bytes: Uint8Array, mode: number): void;
  /** To a folder. */
  makeLink(path: string, target: string): void;
  /** Someone else makes what is there. */
  leaveOut(path: string): void;
  /** Called once everything so far is there; at the latest when `finish` resolves. Never after a failure. */
  whenMade(use: () => void): void;
  /** What is in a folder that has nothing but what it was told to make. `undefined`: only reading it shows that. */
  contentIn(folder: string): WrittenContent | undefined;
  /** The same, once all of it is there and as told. */
  madeIn(folder: string): WrittenContent | undefined;
  /** What is directly in such a folder, once all of it is there. */
  readonly listIn: WrittenFiles["list"];
  /** Everything is there. Rejects with what the system said about the first that could not be made. */
  finish(): Promise<void>;
  /** Nothing more is made. Call it in any case. */
  close(): Promise<void>;
}

/** A thread that makes what it is told, in batches. */
export interface MakerThread extends MakeBatches {
  end(): Promise<void>;
}

/** What a thread says. */
export interface MakerEvents {
  /** How many batches are made, and whether each file can be executed or not, as it should. Some systems have no such bit. */
  made(batches: number, isAsTold: boolean): void;
  /** It makes nothing more. Without a reason, it has ended. */
  stopped(why?: unknown): void;
}

/** `undefined` where there is no such thread. */
type StartMaker = (events: MakerEvents) => MakerThread | undefined;

/** What a thread of Node answers: how many batches it has made, or why it stopped. */
export type MakeAnswer =
  | {
      readonly made: number;
      readonly isAsTold: boolean;
    }
  | { readonly fault: Record<"message" | "code" | "syscall" | "path", string | undefined> };

const FOLDER_MODE = 0o755;
/** For anyone, as in a content identity. */
const EXECUTABLE = 0o111;
/** Fewer entries are made before a thread has started. */
export const WORTH_A_THREAD: number = 64;

/** `starts`: for tests, the threads to choose from. */
export function openTreeMaker(
  entries: number,
  starts: readonly StartMaker[] = [startNativeMaker, startNodeMaker],
): TreeMaker {
  if (entries < WORTH_A_THREAD) return MAKE_HERE;
  for (const start of starts) {
    const progress = followProgress();
    const thread = start(progress);
    if (thread) return tellThread(thread, progress);
  }
  return MAKE_HERE;
}

/** At once. */
export const MAKE_HERE: TreeMaker = {
  makeFolder: (path) => mkdirSync(path, { mode: FOLDER_MODE }),
  writeFile: (path, bytes, mode) => writeFileSync(path, bytes, { flag: "wx", mode }),
  makeLink: (path, target) => symlinkSync(target, path, "dir"),
  leaveOut: () => undefined,
  whenMade: (use) => use(),
  contentIn: () => undefined,
  madeIn: () => undefined,
  listIn: () => undefined,
  finish: async () => undefined,
  close: async () => undefined,
};

export function startNodeMaker(events: MakerEvents): MakerThread | undefined {
  const worker = startWorker();
  if (worker === undefined) return undefined;
  worker.on("error", events.stopped);
  worker.on("exit", () => events.stopped());
  worker.on("message", (answer: MakeAnswer) => {
    if ("fault" in answer) events.stopped(Object.assign(new Error(answer.fault.message), answer.fault));
    else events.made(answer.made, answer.isAsTold);
  });
  const batches = packBatches((memory, length) => {
    const batch = new Uint8Array(memory.subarray(0, length));
    worker.postMessage(batch, [batch.buffer]);
  });
  return { ...batches, end: async () => void (await worker.terminate()) };
}

function startWorker(): Worker | undefined {
  const file = findThreadProgram("install/src/install/tree-thread.ts", "dist/ahead/tree-thread.js");
  if (file === undefined) return undefined;
  try {
    return new (process.getBuiltinModule("node:worker_threads").Worker)(file, {
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
    });
  } catch {
    return undefined; // A host that does not allow threads.
  }
}

interface MakerProgress extends MakerEvents {
  /** Called when so many batches are made; never after a failure. */
  when(batches: number, use: () => void): void;
  readonly isAsTold: boolean;
  /** Rejects when nothing more is made. */
  readonly stop: Promise<never>;
}

/** Knows nothing of the thread, so that one that nobody uses anymore can go. */
function followProgress(): MakerProgress {
  let made = 0;
  let hasStopped = false;
  let isAsTold = true;
  const waiting: { readonly batches: number; use(): void }[] = [];
  const { promise: stop, reject } = Promise.withResolvers<never>();
  stop.catch(() => undefined); // Whoever waits gets it.
  return {
    stop,
    get isAsTold() {
      return isAsTold;
    },
    made(batches, areAsTold) {
      made = batches;
      isAsTold &&= areAsTold;
      while (waiting[0] && waiting[0].batches <= made) waiting.shift()?.use();
    },
    stopped(why = new Error("The thread that writes files ended.")) {
      hasStopped = true;
      waiting.length = 0;
      reject(why);
    },
    when(batches, use) {
      if (hasStopped) return;
      if (made === batches) use();
      else waiting.push({ batches, use });
    },
  };
}

function tellThread(thread: MakerThread, progress: MakerProgress): TreeMaker {
  const written = rememberWritten();
  const whenMade = (use: () => void): void => progress.when(thread.batches(), use);
  const finished = async (): Promise<void> => {
    thread.send();
    await new Promise<void>(whenMade);
  };
  return {
    makeFolder(path) {
      thread.add({ path, mode: FOLDER_MODE });
      written.addFolder(path);
    },
    writeFile(path, bytes, mode) {
      thread.add({ path, mode, bytes });
      written.addFile(path, bytes, (mode & EXECUTABLE) !== 0);
    },
    makeLink(path, target) {
      thread.add({ path, target });
      written.leaveOut(path);
    },
    leaveOut: written.leaveOut,
    whenMade,
    contentIn: written.in,
    madeIn: (folder) => (progress.isAsTold ? written.in(folder) : undefined),
    listIn: written.list,
    finish: () => Promise.race([progress.stop, finished()]),
    close: () => thread.end(),
  };
}
