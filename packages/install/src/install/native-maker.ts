/**
 * The thread that makes a large tree, without JavaScript (`packages/skills/native`, from `maker-calls.h` on): it starts at
 * once, and costs little more than what the system does. The build makes it on Linux where there is a C compiler.
 */
import { getSystemErrorMap } from "node:util";
import { findThreadProgram } from "@metier/base/files";
import type { MakeEntry, MakerEvents, MakerThread } from "./tree-maker.ts";

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
  native ??= loadNative() ?? "none";
  if (native === "none") return undefined;
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

let native: NativeMaker | "none" | undefined;

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
  return Object.assign(new Error(`${code}: ${text}, ${call}${paths[call] ?? ""}`), { code }); // Others have an open file.
}

/** The kinds and the layout of `make-tree.h`. */
const [FOLDER, FILE, LINK] = [0, 1, 2];
const HEADER_BYTES = 16;
/** Of a character in a path, at most. */
const UTF8_BYTES = 3;
/** What goes to the thread together. A larger file goes alone. */
const BATCH_ENTRIES = 16;
const BATCH_BYTES = 256 * 1024;
const NO_BYTES = new Uint8Array();

/** Writes entries one after the other into the same memory; whoever gets a batch copies it. */
function packBatches(post: (bytes: Uint8Array, length: number) => void): Omit<MakerThread, "end"> {
  let space = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let used = 0;
  let entries = 0;
  let sent = 0;
  const send = (): void => {
    if (entries === 0) return;
    post(space, used);
    used = 0;
    entries = 0;
    sent += 1;
  };
  const makeRoom = (bytes: number): void => {
    if (used + bytes <= space.length) return;
    send();
    const room = Math.max(bytes, BATCH_BYTES);
    if (room !== space.length) space = Buffer.allocUnsafeSlow(room);
  };
  return {
    add({ path, mode = 0, size, target }: MakeEntry, bytes = NO_BYTES) {
      const content = target === undefined ? bytes : Buffer.from(target);
      makeRoom(HEADER_BYTES + path.length * UTF8_BYTES + content.length + 2);
      const pathStart = used + HEADER_BYTES;
      const pathEnd = pathStart + space.write(path, pathStart);
      const kind = target === undefined ? (size === undefined ? FOLDER : FILE) : LINK;
      const numbers = [kind, mode, pathEnd - pathStart, content.length];
      for (const [index, number] of numbers.entries()) space.writeUInt32LE(number, used + 4 * index);
      space[pathEnd] = 0;
      space.set(content, pathEnd + 1);
      used = pathEnd + 1 + content.length + 1;
      space[used - 1] = 0;
      if (++entries >= BATCH_ENTRIES) send();
    },
    batches: () => sent + Math.min(entries, 1),
    send,
  };
}

/** `undefined` where it was not built, is for another C library, or may not be loaded (`--no-addons`, `--permission`). */
function loadNative(): NativeMaker | undefined {
  const file = `read-ahead-${process.platform}-${process.arch}.node`;
  const program = findThreadProgram(`metier/dist/native/${file}`, `dist/native/${file}`);
  if (program === undefined) return undefined;
  const module: { exports: Partial<NativeMaker> } = { exports: {} };
  try {
    process.dlopen(module, program);
    // In a clone, it may be from before its sources.
    return module.exports.openMaker ? (module.exports as NativeMaker) : undefined;
  } catch {
    return undefined;
  }
}
