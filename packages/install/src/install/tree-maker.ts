/**
 * Makes the folders, files and links of a large tree on another thread. The system takes long to make one, and longer right
 * after many were deleted; this thread checks what is already there. Without a thread, this one makes them.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import type { IdentifiedFile } from "@metier/skills/trust";
import { startNativeMaker } from "./native-maker.ts";
import { rememberWritten, type WrittenContent } from "./written-files.ts";

/** Makes one after the other. Paths are absolute, and a folder comes before what is in it. */
export interface TreeMaker {
  makeFolder(path: string): void;
  /** Only a new file. The bytes must not change afterwards: they are kept. */
  writeFile(path: string, bytes: Uint8Array, mode: number): void;
  /** To a folder. */
  makeLink(path: string, target: string): void;
  /** Called when everything so far is there, with the next ones or at the end; never after a failure. */
  whenMade(use: () => void): void;
  /**
   * The files in a folder that has nothing but what was made here, and all of it is there. `undefined`: only reading it
   * shows them.
   */
  filesIn(folder: string): readonly IdentifiedFile[] | undefined;
  /** The same, as it was told to make it, whether it is there yet or not. */
  contentIn(folder: string): WrittenContent | undefined;
  /** Everything is there. Rejects with what the system said about the first that could not be made. */
  finish(): Promise<void>;
  /** Nothing more is made. Call it in any case. */
  close(): Promise<void>;
}

/** A link has a target, a file has a size, and a folder has neither. */
export interface MakeEntry {
  readonly path: string;
  readonly mode?: number;
  readonly size?: number;
  readonly target?: string;
}

/** A thread that makes what it is told, in batches. */
export interface MakerThread {
  /** Copies the bytes. */
  add(entry: MakeEntry, bytes?: Uint8Array): void;
  /** How many batches there are so far, with one that is not sent yet. */
  batches(): number;
  /** Sends what is left. */
  send(): void;
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

/** What a thread of Node is told. The bytes of files follow each other. */
export interface MakeBatch {
  readonly entries: readonly MakeEntry[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What it answers: how many batches it has made, or why it stopped. */
export type MakeAnswer =
  | {
      readonly made: number;
      readonly isAsTold: boolean;
    }
  | { readonly fault: { readonly message: string; readonly code: string | undefined } };

const FOLDER_MODE = 0o755;
/** For anyone, as in a content identity. */
const EXECUTABLE = 0o111;
/** Fewer entries are made before a thread has started. */
export const WORTH_A_THREAD: number = 64;
/** What goes to the thread together. */
const BATCH_ENTRIES = 16;
const BATCH_BYTES = 256 * 1024;

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
  whenMade: (use) => use(),
  filesIn: () => undefined,
  contentIn: () => undefined,
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
  const batches = createBatches((batch) => worker.postMessage(batch, [batch.bytes.buffer]));
  return { ...batches, end: async () => void (await worker.terminate()) };
}

function startWorker(): Worker | undefined {
  const file = findThreadProgram("install/src/install/tree-thread.ts", "dist/ahead/tree-thread.js");
  if (file === undefined) return undefined;
  try {
    return new Worker(file, { execArgv: [], env: {}, stdout: true, stderr: true });
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
      thread.add({ path, mode, size: bytes.length }, bytes);
      written.addFile(path, bytes, (mode & EXECUTABLE) !== 0);
    },
    makeLink(path, target) {
      thread.add({ path, target });
      written.addLink(path);
    },
    whenMade,
    filesIn: (folder) => (progress.isAsTold ? written.in(folder)?.files : undefined),
    contentIn: written.in,
    finish: () => Promise.race([progress.stop, finished()]),
    close: () => thread.end(),
  };
}

function createBatches(post: (batch: MakeBatch) => void): Omit<MakerThread, "end"> {
  let entries: MakeEntry[] = [];
  let pieces: Uint8Array[] = [];
  let size = 0;
  let sent = 0;
  const send = (): void => {
    if (entries.length === 0) return;
    post({ entries, bytes: joinPieces(pieces, size) });
    [entries, pieces, size] = [[], [], 0];
    sent += 1;
  };
  return {
    add(entry, bytes) {
      if (bytes) pieces.push(new Uint8Array(bytes));
      size += entry.size ?? 0;
      if (entries.push(entry) >= BATCH_ENTRIES || size >= BATCH_BYTES) send();
    },
    batches: () => sent + Math.min(entries.length, 1),
    send,
  };
}

function joinPieces(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
