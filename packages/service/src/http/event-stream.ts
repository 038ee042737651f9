/**
 * The events of a run as server-sent events. Everything that has a number comes from the journal, in order; a notice only says
 * when to look. What the model is writing comes in between as `event: text` without a number: it is not kept, and the answer
 * that follows has all of it. Read on demand: a client that reads slowly holds a few events in memory, not all of them.
 */

import { isJsonObject, type Json } from "@metier/base/json";
import { ENDED, type JournalEvent, type JournalStore } from "@metier/durable";
import type { RunNotices } from "../runs/run-notices.ts";
import { streamFrames } from "./frame-stream.ts";

const BATCH = 100;
/** Of a text that is being written, for a client that reads slowly: what is more, it sees in the whole answer. */
const MOST_WRITTEN = 64 * 1024;

interface EventStreamParts {
  readonly journal: JournalStore;
  readonly notices: RunNotices;
  readonly runId: string;
  /** The sequence number that the client has seen last. */
  readonly after: number;
  readonly heartbeatMs: number;
  readonly pollMs: number;
  /** The client has gone, or the service stops. */
  readonly signal: AbortSignal;
  /** Whether the key that it was opened with still acts. */
  mayGoOn(): Promise<boolean>;
  project(event: JournalEvent): Json;
  /** Pieces of a text as clients may see them; `end`: the text is whole. */
  readonly text: { push(piece: string): string; end(): string };
  onEnd(): void;
  onFault(fault: unknown): void;
}

export function streamEvents(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const closed = new AbortController();
  const signal = AbortSignal.any([parts.signal, closed.signal]);
  let after = parts.after;
  let written = "";
  const ignore = parts.notices.onText(parts.runId, (piece) => {
    const shown = parts.text.push(piece);
    if (written.length < MOST_WRITTEN) written += shown;
  });
  const end = (): void => {
    ignore();
    closed.abort();
    parts.onEnd();
  };
  const takeText = (): string => {
    const frame = `event: text\ndata: ${JSON.stringify({ runId: parts.runId, text: written })}\n\n`;
    written = "";
    return frame;
  };
  const next = async (): Promise<string | undefined> => {
    const batch = await nextBatch(parts, after, signal, () => written !== "");
    if (batch === "ended" || signal.aborted || !(await parts.mayGoOn())) return undefined;
    if (batch.length === 0) return written === "" ? ": heartbeat\n\n" : takeText();
    after = batch.at(-1)?.seq ?? after;
    // A whole answer has everything that was written until then.
    if (batch.some(({ event }) => isJsonObject(event) && event.type === "model-answered")) {
      parts.text.end();
      written = "";
    }
    return batch
      .map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(parts.project(event))}\n\n`)
      .join("");
  };
  return streamFrames({ next, end, onFault: parts.onFault });
}

/** What is new; nothing when it is time for a sign of life; `ended` behind the last event of a run that has ended. */
async function nextBatch(
  { journal, notices, runId, heartbeatMs, pollMs }: EventStreamParts,
  after: number,
  signal: AbortSignal,
  hasText: () => boolean,
): Promise<readonly JournalEvent[] | "ended"> {
  const until = performance.now() + heartbeatMs;
  for (;;) {
    // Asked for before the journal is read: what is written in between wakes it.
    const waiting = new AbortController();
    const changed = notices.next(
      runId,
      Math.min(pollMs, Math.max(1, until - performance.now())),
      AbortSignal.any([signal, waiting.signal]),
    );
    try {
      const run = await journal.get(runId);
      const events = await journal.events(runId, after, BATCH);
      if (events.length > 0) return events;
      if (run === undefined || ENDED.has(run.status)) return "ended";
      await changed;
    } finally {
      waiting.abort();
    }
    if (signal.aborted || performance.now() >= until || hasText()) return [];
  }
}
