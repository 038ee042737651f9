/**
 * Shares this process's notices with others on the same store: what is written here wakes streams there, and vice
 * versa. The text a model is writing is only sent for runs that someone follows elsewhere.
 */
import type { BusNotice, NoticeBus } from "@metier/durable";
import type { RunNotices } from "./run-notices.ts";

/** Pieces of text within this time are sent together. */
const FRAME_MS = 50;
/** How often a follower of a run says so, and how long that lasts for its worker. */
const WATCH_EVERY_MS = 10_000;
const WATCHED_FOR_MS = 30_000;

export interface SharedNotices extends RunNotices {
  stop(): void;
}

export function shareNotices(local: RunNotices, bus: NoticeBus): SharedNotices {
  const watched = createWatched();
  const frames = createFrames((runId, text) => bus.tell({ kind: "text", runId, text }));
  const following = createFollowing((runId) => bus.tell({ kind: "watch", runId }));
  const ignore = bus.onNotice((notice) => {
    if (notice.kind === "watch") watched.add(notice.runId);
    else hear(local, notice);
  });
  return {
    ...local,
    changed(runId) {
      local.changed(runId);
      bus.tell({ kind: "run", runId });
    },
    wrote(runId, piece) {
      local.wrote(runId, piece);
      if (watched.has(runId)) frames.add(runId, piece);
    },
    onText(runId, listener) {
      const ignoreText = local.onText(runId, listener);
      const leave = following.join(runId);
      return () => {
        leave();
        ignoreText();
      };
    },
    tell(change) {
      local.tell(change);
      if (change.kind === "catalog") bus.tell(change);
      else bus.tell({ kind: "list", of: change.kind, id: change.id, runId: change.runId });
    },
    stop() {
      ignore();
      frames.stop();
      following.stop();
    },
  };
}

function hear(local: RunNotices, notice: Exclude<BusNotice, { readonly kind: "watch" }>): void {
  if (notice.kind === "run") local.changed(notice.runId);
  else if (notice.kind === "text") local.wrote(notice.runId, notice.text);
  else if (notice.kind === "catalog") local.tell(notice);
  else local.tell({ kind: notice.of, id: notice.id, runId: notice.runId });
}

/** Runs that someone follows elsewhere, until nothing was heard for a while. */
function createWatched() {
  const until = new Map<string, number>();
  return {
    add(runId: string): void {
      const now = performance.now();
      until.delete(runId);
      until.set(runId, now + WATCHED_FOR_MS);
      // Ordered by their ends, so that expired ones come first.
      for (const [other, end] of until) {
        if (end > now) break;
        until.delete(other);
      }
    },
    has: (runId: string): boolean => (until.get(runId) ?? 0) > performance.now(),
  };
}

function createFrames(send: (runId: string, text: string) => void) {
  const open = new Map<string, { text: string; readonly timer: NodeJS.Timeout }>();
  const end = (runId: string): void => {
    const frame = open.get(runId);
    open.delete(runId);
    if (frame) send(runId, frame.text);
  };
  return {
    add(runId: string, piece: string): void {
      const frame = open.get(runId);
      if (frame) frame.text += piece;
      else open.set(runId, { text: piece, timer: setTimeout(() => end(runId), FRAME_MS).unref() });
    },
    stop(): void {
      for (const { timer } of open.values()) clearTimeout(timer);
      open.clear();
    },
  };
}

/** Runs followed here: their workers are told immediately, and again as long as it lasts. */
function createFollowing(tell: (runId: string) => void) {
  const counts = new Map<string, number>();
  const renewal = setInterval(() => {
    for (const runId of counts.keys()) tell(runId);
  }, WATCH_EVERY_MS).unref();
  return {
    join(runId: string): () => void {
      const before = counts.get(runId) ?? 0;
      counts.set(runId, before + 1);
      if (before === 0) tell(runId);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        const left = (counts.get(runId) ?? 1) - 1;
        if (left > 0) counts.set(runId, left);
        else counts.delete(runId);
      };
    },
    stop: (): void => clearInterval(renewal),
  };
}
