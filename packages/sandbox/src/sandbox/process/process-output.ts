/** A process's output, kept or read line by line, and the signal that ended it. */
import { constants } from "node:os";
import type { CommandOutcome } from "../sandbox.ts";

export interface KeptOutput {
  /** Takes what a stream delivered. */
  take(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  text(stream: "stdout" | "stderr"): string;
  droppedBytes(): number;
}

/** Keeps both streams up to a size and counts the rest, so that nothing is lost silently. */
export function keepOutput(maxBytes: number): KeptOutput {
  const kept = { stdout: emptyStream(), stderr: emptyStream() };
  return {
    take(name, chunk) {
      const stream = kept[name];
      const part = chunk.subarray(0, Math.max(0, maxBytes - stream.bytes));
      if (part.length > 0) stream.chunks.push(part);
      stream.bytes += part.length;
      stream.dropped += chunk.length - part.length;
    },
    text(name) {
      const { chunks, dropped } = kept[name];
      // A character split by the cut is dropped instead of shown as an error.
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks), {
        stream: dropped > 0,
      });
    },
    droppedBytes: () => kept.stdout.dropped + kept.stderr.dropped,
  };
}

function emptyStream(): { readonly chunks: Uint8Array[]; bytes: number; dropped: number } {
  return { chunks: [], bytes: 0, dropped: 0 };
}

/**
 * Splits chunks into lines of bounded length. `onLong` is called once, with the minimum length; nothing is read after
 * it.
 */
export function createLineReader(
  maxBytes: number,
  onLine: (line: string) => void,
  onLong: (bytes: number) => void,
): (chunk: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let length = 0;
  let isOver = false;
  const keep = (part: Uint8Array): boolean => {
    length += part.length;
    parts.push(part);
    isOver = length > maxBytes;
    if (isOver) onLong(length);
    return !isOver;
  };
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !isOver; end = rest.indexOf(10)) {
      if (!keep(rest.subarray(0, end))) return;
      const line = toText(parts);
      [parts, length, rest] = [[], 0, rest.subarray(end + 1)];
      onLine(line);
    }
    if (!isOver && rest.length > 0) keep(rest);
  };
}

/** Most lines come in one chunk, which need not be copied. */
function toText(parts: readonly Uint8Array[]): string {
  const [only = new Uint8Array(), ...more] = parts;
  const bytes =
    more.length === 0 ? Buffer.from(only.buffer, only.byteOffset, only.length) : Buffer.concat(parts);
  return bytes.toString("utf8");
}

const FIRST_SIGNAL_CODE = 128;

/** The signal of a command, if a program around it reports it as an exit code, as shells do. */
export function readSignal(outcome: CommandOutcome): CommandOutcome {
  const { ended, exitCode = 0 } = outcome;
  // Some numbers have two names; the last one counts.
  const signal = Object.entries(constants.signals).findLast(
    ([, number]) => number === exitCode - FIRST_SIGNAL_CODE,
  )?.[0];
  if (ended !== "exited" || signal === undefined) return outcome;
  return { ...outcome, ended: "signalled", signal };
}
