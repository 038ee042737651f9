/** The program of the thread that makes folders, files and links: `tree-maker.ts` says which. It stops at the first failure. */
import { closeSync, fstatSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import type { MakeAnswer, MakeBatch } from "./tree-maker.ts";

let made = 0;
let hasFailed = false;

parentPort?.on("message", (batch: MakeBatch) => {
  if (hasFailed) return;
  const answer = makeAll(batch);
  hasFailed = "fault" in answer;
  parentPort?.postMessage(answer);
});

function makeAll({ entries, bytes }: MakeBatch): MakeAnswer {
  let at = 0;
  let isAsTold = true;
  try {
    for (const { path, mode = 0, size, target } of entries) {
      if (target !== undefined) symlinkSync(target, path, "dir");
      else if (size === undefined) mkdirSync(path, { mode });
      else if (!writeNew(path, bytes.subarray(at, at + size), mode)) isAsTold = false;
      at += size ?? 0;
    }
    return { made: ++made, isAsTold };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { fault: { message, code } }; // A copy of an error has no code.
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
