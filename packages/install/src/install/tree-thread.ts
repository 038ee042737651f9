/** The program of the thread that makes folders, files and links: `tree-maker.ts` says which. It stops at the first failure. */
import { closeSync, fstatSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { readBatch } from "./make-batches.ts";
import type { MakeAnswer } from "./tree-maker.ts";

let made = 0;
let hasFailed = false;

parentPort?.on("message", (batch: Uint8Array) => {
  if (hasFailed) return;
  const answer = makeAll(batch);
  hasFailed = "fault" in answer;
  parentPort?.postMessage(answer);
});

function makeAll(batch: Uint8Array): MakeAnswer {
  let isAsTold = true;
  try {
    for (const { path, mode = 0, bytes, target } of readBatch(batch)) {
      if (target !== undefined) symlinkSync(target, path, "dir");
      else if (bytes === undefined) mkdirSync(path, { mode });
      else if (!writeNew(path, bytes, mode)) isAsTold = false;
    }
    return { made: ++made, isAsTold };
  } catch (error) {
    const { message, code, syscall, path } = error as NodeJS.ErrnoException;
    return { fault: { message, code, syscall, path } }; // A copy of an error has no code.
  }
}

const EXECUTABLE = 0o111;

/** Returns whether it can be executed or not, as it should. */
function writeNew(path: string, bytes: Uint8Array, mode: number): boolean {
  const descriptor = openSync(path, "wx", mode);
  try {
    writeFileSync(descriptor, bytes);
    return ((fstatSync(descriptor).mode & EXECUTABLE) !== 0) === ((mode & EXECUTABLE) !== 0);
  } finally {
    closeSync(descriptor);
  }
}
