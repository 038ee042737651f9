/**
 * Makes the folders, files and links of a large tree on another thread. The system takes long to make one, and longer right
 * after many were deleted; this thread checks what is already there. Without a thread, this one makes them.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import type { IdentifiedFile } from "@metier/skills/trust";
import { rememberWritten } from "./written-files.ts";

/** Makes one after the other. Paths are absolute, and a folder comes before what is in it. */
export interface TreeMaker {
  makeFolder(path: string): void;
  /** Only a new file. The bytes may change afterwards. */
  writeFile(path: string, bytes: Uint8Array, mode: number): void;
  /** To a folder. */
  makeLink(path: string, target: string): void;
  /** Called when everything so far is there; never after a failure. */
  whenMade(use: () => void): void;
  /**
   * The files in a folder that has nothing but what was made here, and all of it is there. `undefined`: only reading it
   * shows them.
   */
  filesIn(folder: string): readonly IdentifiedFile[] | undefined;
  /** Everything is there. Rejects with what the system said about the first that could not be made. */
  finish(): Promise<void>;
  /** Nothing more is made. Call it in any case. */
  close(): Promise<void>;
}

/** A link has a target, a file has a size, and a folder has neither. */
interface MakeEntry {
  readonly path: string;
  readonly mode?: number;
  readonly size?: number;
  readonly target?: string;
}

/** What the thread is told. The bytes of files follow each other. */
export interface MakeBatch {
  readonly entries: readonly MakeEntry[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What it answers: how many batches it has made, or why it stopped. */
export type MakeAnswer =
  | {
      readonly made: number;
      /** Whether each file can be executed or not, as it should. Some file systems have no such bit. */
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

export function openTreeMaker(entries: number): TreeMaker {
  return (entries < WORTH_A_THREAD ? undefined : startThread()) ?? MAKE_HERE;
}

/** At once. */
export const MAKE_HERE: TreeMaker = {
  makeFolder: (path) => mkdirSync(path, { mode: FOLDER_MODE }),
  writeFile: (path, bytes, mode) => writeFileSync(path, bytes, { flag: "wx", mode }),
  makeLink: (path, target) => symlinkSync(target, path, "dir"),
  whenMade: (use) => use(),
  filesIn: () => undefined,
  finish: async () => undefined,
  close: async () => undefined,
};

function startThread(): TreeMaker | undefined {
  const file = findThreadProgram("install/src/install/tree-thread.ts", "dist/ahead/tree-thread.js");
  if (file === undefined) return undefined;
  try {
    return followThread(new Worker(file, { execArgv: [], env: {}, stdout: true, stderr: true }));
  } catch {
    return undefined; // A host that does not allow threads.
  }
}

function followThread(worker: Worker): TreeMaker {
  const batches = createBatches((batch) => worker.postMessage(batch, [batch.bytes.buffer]));
  const written = rememberWritten();
  let made = 0;
  let hasFailed = false;
  let isAsTold = true;
  const waiting: { readonly batches: number; use(): void }[] = [];
  const stop = new Promise<never>((_, reject) => {
    const fail = (why: unknown): void => {
      hasFailed = true;
      reject(why);
    };
    worker.on("error", fail);
    worker.on("exit", () => fail(new Error("The thread that writes files ended.")));
    worker.on("message", (answer: MakeAnswer) => {
      if ("fault" in answer) return fail(Object.assign(new Error(answer.fault.message), answer.fault));
      made = answer.made;
      isAsTold &&= answer.isAsTold;
      while (waiting[0] && waiting[0].batches <= made) waiting.shift()?.use();
    });
  });
  stop.catch(() => undefined); // Whoever waits gets it.
  const whenMade = (use: () => void): void => {
    const sent = batches.send();
    if (hasFailed) return;
    if (made === sent) use();
    else waiting.push({ batches: sent, use });
  };
  return {
    makeFolder(path) {
      batches.add({ path, mode: FOLDER_MODE });
      written.addFolder(path);
    },
    writeFile(path, bytes, mode) {
      batches.add({ path, mode, size: bytes.length }, bytes);
      written.addFile(path, bytes, (mode & EXECUTABLE) !== 0);
    },
    makeLink(path, target) {
      batches.add({ path, target });
      written.addLink(path);
    },
    whenMade,
    filesIn: (folder) => (isAsTold ? written.in(folder) : undefined),
    finish: () => Promise.race([stop, new Promise<void>(whenMade)]),
    close: async () => void (await worker.terminate()),
  };
}

interface Batches {
  /** Copies the bytes. */
  add(entry: MakeEntry, bytes?: Uint8Array): void;
  /** Sends what is left; returns how many were sent so far. */
  send(): number;
}

function createBatches(post: (batch: MakeBatch) => void): Batches {
  let entries: MakeEntry[] = [];
  let pieces: Uint8Array[] = [];
  let size = 0;
  let sent = 0;
  const send = (): number => {
    if (entries.length === 0) return sent;
    post({ entries, bytes: joinPieces(pieces, size) });
    [entries, pieces, size] = [[], [], 0];
    return ++sent;
  };
  return {
    add(entry, bytes) {
      if (bytes) pieces.push(Uint8Array.from(bytes));
      size += entry.size ?? 0;
      if (entries.push(entry) >= BATCH_ENTRIES || size >= BATCH_BYTES) send();
    },
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
