/**
 * Appends lines to a file that other processes append to and put aside, too. Lines of the same moment go out in one write, and
 * those that must be on the disk share one flush; whoever waits for a line waits until it is there.
 */
import { close, closeSync, fstatSync, fsync, mkdirSync, openSync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

interface LineWriter {
  /** Resolves when the line is written; with `isFlushed`, when it is on the disk. Rejects when it cannot be. */
  append(line: string, isFlushed: boolean): Promise<void>;
}

interface WaitingLine {
  readonly text: string;
  settle(fault?: unknown): void;
}

/** `isFull`: whether the file, so large now, was put aside or has to be; what it throws is told to whoever waits. */
export function createLineWriter(file: string, isFull: (bytes: number) => boolean): LineWriter {
  const kept = keepDescriptor(file);
  const plain = collectLines((lines) => {
    try {
      if (isFull(kept.write(joinLines(lines)))) kept.forget();
      settleAll(lines);
    } catch (fault) {
      settleAll(lines, fault);
    }
  });
  const flushed = collectLines(async (lines) => {
    try {
      if (isFull(await flushLines(file, joinLines(lines)))) kept.forget();
      settleAll(lines);
    } catch (fault) {
      settleAll(lines, fault);
    }
  });
  return { append: (line, isFlushed) => (isFlushed ? flushed : plain).add(line) };
}

function settleAll(lines: readonly WaitingLine[], fault?: unknown): void {
  for (const { settle } of lines) settle(fault);
}

/** What is added until every call of this moment waits goes out together; what comes while it does, together after it. */
function collectLines(send: (lines: readonly WaitingLine[]) => Promise<void> | undefined): {
  add(text: string): Promise<void>;
} {
  let waiting: WaitingLine[] = [];
  let isUnderWay = false;
  const sendWaiting = (): void => {
    const lines = waiting;
    waiting = [];
    isUnderWay = lines.length > 0;
    if (!isUnderWay) return;
    const sent = send(lines);
    if (sent) void sent.then(sendWaiting);
    else isUnderWay = false;
  };
  return {
    add(text) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ text, settle: (fault) => (fault === undefined ? resolve() : reject(fault)) });
      if (!isUnderWay) process.nextTick(sendWaiting);
      isUnderWay = true;
      return promise;
    },
  };
}

function joinLines(lines: readonly WaitingLine[]): Buffer {
  return Buffer.from(lines.map(({ text }) => text).join(""));
}

function writeBytes(descriptor: number, bytes: Buffer): Stats {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  return fstatSync(descriptor);
}

const [flush, closeLater] = [promisify(fsync), promisify(close)];

/** How large the file is then. The flush is waited for elsewhere than here: others go on, and share the next one. */
async function flushLines(file: string, bytes: Buffer): Promise<number> {
  const descriptor = openToAppend(file);
  try {
    const { size } = writeBytes(descriptor, bytes);
    await flush(descriptor);
    return size;
  } finally {
    await closeLater(descriptor);
  }
}

function openToAppend(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return openSync(file, "a", 0o600);
}

/** So long at most goes on in a file that another process has put aside. It is one of the log all the same. */
const KEPT_MS = 1000;

/** Open for a moment: lines that come one after the other need not each open the file. */
function keepDescriptor(file: string): { write(bytes: Buffer): number; forget(): void } {
  let kept: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(timer);
    if (kept !== undefined) closeSync(kept);
    kept = undefined;
  };
  const write = (bytes: Buffer): number => {
    if (kept === undefined) {
      kept = openToAppend(file);
      timer = setTimeout(forget, KEPT_MS).unref();
    }
    const { nlink, size } = writeBytes(kept, bytes);
    if (nlink > 0) return size;
    forget(); // Somebody has removed it, and what was written with it.
    return write(bytes);
  };
  return { write, forget };
}
