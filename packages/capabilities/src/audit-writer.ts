/**
 * Appends lines to a file that other processes also append to and rotate. Lines added at the same time share one write,
 * and those that must reach the disk share one flush; each caller waits until its line is there.
 */
import { close, closeSync, fstatSync, fsync, mkdirSync, openSync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

interface LineWriter {
  /** Resolves when the line is written or, with `isFlushed`, when it is on disk. Rejects if that fails. */
  append(line: string, isFlushed: boolean): Promise<void>;
}

interface WaitingLine {
  readonly text: string;
  settle(fault?: unknown): void;
}

/** `isFull`: whether a file of this size was rotated or must be; callers that wait get what it throws. */
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

/** Lines added in the same tick are written together; lines added during that write go together after it. */
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

/** Returns the new file size. The flush is awaited elsewhere, so that others continue and share the next one. */
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

/** How long writing may continue in a file that another process has rotated. That file still belongs to the log. */
const KEPT_MS = 1000;

/** Kept open briefly, so that consecutive lines need not reopen the file. */
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
    forget(); // The file was removed, and with it what was written.
    return write(bytes);
  };
  return { write, forget };
}
