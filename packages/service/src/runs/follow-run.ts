/**
 * A run, followed: its events in order from the journal, without a gap or a double, and in between the text that the model is
 * writing, which nobody keeps. A notice only says when to look. Read on demand, so that somebody who reads slowly holds a few
 * events in memory, not all of them.
 */
import { isJsonObject } from "@metier/base/json";
import { ENDED, type JournalEvent, type JournalStore } from "@metier/durable";
import type { RunNotices } from "./run-notices.ts";

const BATCH = 100;
/** For text being written, for a slow client: it sees the rest in the whole answer. */
const MOST_WRITTEN = 64 * 1024;

interface FollowParts {
  readonly journal: JournalStore;
  readonly notices: RunNotices;
  readonly runId: string;
  /** The last sequence number that was seen. */
  readonly after: number;
  /** How long nothing may happen before `quiet`. */
  readonly heartbeatMs: number;
  readonly pollMs: number;
  /** Nobody is listening anymore, or the service is stopping. */
  readonly signal: AbortSignal;
  /** Whether the key it was opened with is still valid. */
  mayGoOn(): Promise<boolean>;
  /** Pieces of text as clients may see them; `end`: the text is complete. */
  readonly text: { push(piece: string): string; end(): string };
}

/**
 * What comes next: events, a piece of text, that the run now waits for a person, or a sign that nothing happened for a
 * while. `waiting` is reported once each time, after all earlier events.
 */
type Followed =
  | { readonly kind: "events"; readonly events: readonly JournalEvent[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "waiting" }
  | { readonly kind: "quiet" };

export interface RunFollowing {
  /** `undefined`: the run has ended and all of it was seen, or listening is no longer allowed. */
  next(): Promise<Followed | undefined>;
  end(): void;
}

export function followRun(parts: FollowParts): RunFollowing {
  const closed = new AbortController();
  const signal = AbortSignal.any([parts.signal, closed.signal]);
  let after = parts.after;
  let waitingAt = -1;
  let written = "";
  const ignore = parts.notices.onText(parts.runId, (piece) => {
    const shown = parts.text.push(piece);
    if (written.length < MOST_WRITTEN) written += shown;
  });
  const takeText = (): string => {
    const text = written;
    written = "";
    return text;
  };
  return {
    async next() {
      const events = await nextBatch(parts, { after, waitingAt }, signal, () => written !== "");
      if (events === "ended" || signal.aborted || !(await parts.mayGoOn())) return undefined;
      if (events === "waiting") {
        waitingAt = after;
        return { kind: "waiting" };
      }
      if (events.length === 0) return written === "" ? { kind: "quiet" } : { kind: "text", text: takeText() };
      after = events.at(-1)?.seq ?? after;
      // A whole answer contains everything written until then.
      if (events.some(({ event }) => isJsonObject(event) && event.type === "model-answered")) {
        parts.text.end();
        written = "";
      }
      return { kind: "events", events };
    },
    end() {
      ignore();
      closed.abort();
    },
  };
}

/**
 * What is new; nothing when it is time for a sign of life; `ended` behind the last event of a run that has ended; `waiting`
 * behind the last event of one that waits, unless that was told already.
 */
async function nextBatch(
  { journal, notices, runId, heartbeatMs, pollMs }: FollowParts,
  { after, waitingAt }: { readonly after: number; readonly waitingAt: number },
  signal: AbortSignal,
  hasText: () => boolean,
): Promise<readonly JournalEvent[] | "ended" | "waiting"> {
  const until = performance.now() + heartbeatMs;
  for (;;) {
    // Requested before the journal is read: what is written in between wakes it.
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
      if (run.status === "waiting" && waitingAt !== after) return "waiting";
      await changed;
    } finally {
      waiting.abort();
    }
    if (signal.aborted || performance.now() >= until || hasText()) return [];
  }
}
