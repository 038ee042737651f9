/** The program of the thread that makes folders, files and links: `tree-maker.ts` says which. It stops at the first failure. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
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
  try {
    for (const { path, mode, size, target } of entries) {
      if (target !== undefined) symlinkSync(target, path, "dir");
      else if (size === undefined) mkdirSync(path, { mode });
      else writeFileSync(path, bytes.subarray(at, at + size), { flag: "wx", mode });
      at += size ?? 0;
    }
    return { made: ++made };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { fault: { message, code } }; // A copy of an error has no code.
  }
}
