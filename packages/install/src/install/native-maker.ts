/**
 * The thread that makes a large tree, without JavaScript (`packages/skills/native`, from `maker-calls.h` on): it starts at
 * once, and costs little more than what the system does. The build makes it on Linux where there is a C compiler.
 */
import { getSystemErrorMap } from "node:util";
import { nativeCode } from "@metier/base/files";
import { packBatches } from "./make-batches.ts";
import type { MakerEvents, MakerThread } from "./tree-maker.ts";

/** What `maker-calls.h` exports. Each function returns `undefined` if it could not do its work. */
interface NativeMaker {
  openMaker(onAnswer: OnAnswer): MakerHandle | undefined;
  /** Copies the bytes up to the length. */
  addBatch(maker: MakerHandle, bytes: Uint8Array, length: number): true | undefined;
  closeMaker(maker: MakerHandle): void;
}

/** Its thread ends with it. While it has work, Node keeps it. */
type MakerHandle = { readonly brand: "maker" };

/** The fault is the system's number; 0 is none. */
type OnAnswer = (
  made: number,
  isAsTold: boolean,
  fault: number,
  call: string,
  path: string,
  target: string,
) => void;

/** `undefined` where there is none. */
export function startNativeMaker(events: MakerEvents): MakerThread | undefined {
  const native = nativeCode() as NativeMaker | undefined;
  if (native?.openMaker === undefined) return undefined;
  const { openMaker, addBatch, closeMaker } = native;
  const maker = openMaker(passAnswers(events));
  if (maker === undefined) return undefined;
  const packed = packBatches((bytes, length) => {
    if (addBatch(maker, bytes, length) !== true)
      events.stopped(new Error("The thread that writes files takes no more."));
  });
  return {
    ...packed,
    async end() {
      closeMaker(maker);
      events.stopped();
    },
  };
}

/** On its own: a function that knows the maker would keep it for ever, because the thread keeps the function. */
function passAnswers(events: MakerEvents): OnAnswer {
  return (made, isAsTold, fault, ...about) => {
    events.made(made, isAsTold);
    if (fault !== 0) events.stopped(describeFault(fault, ...about));
  };
}

/** As `node:fs` says it. */
function describeFault(fault: number, call: string, path: string, target: string): Error {
  const unknown = `Unknown system error ${-fault}`;
  const [code, text] = getSystemErrorMap().get(-fault) ?? [unknown, unknown];
  const paths: Readonly<Record<string, string>> = {
    mkdir: ` '${path}'`,
    open: ` '${path}'`,
    symlink: ` '${target}' -> '${path}'`,
  };
  // Other calls work on an open file, so Node's message has no path.
  const about = { code, syscall: call, path: call === "symlink" ? target : paths[call] && path };
  return Object.assign(new Error(`${code}: ${text}, ${call}${paths[call] ?? ""}`), about);
}
