/**
 * A run's events as server-sent events. Numbered events come from the journal, in order. The model's current text comes
 * in between as `event: text` without a number: it isn't stored, and the answer that follows contains it.
 */
import type { Json } from "@metier/base/json";
import type { JournalEvent } from "@metier/durable";
import { followRun } from "../runs/follow-run.ts";
import { streamFrames } from "./frame-stream.ts";

type EventStreamParts = Parameters<typeof followRun>[0] & {
  project(event: JournalEvent): Json;
  onEnd(): void;
  onFault(fault: unknown): void;
};

export function streamEvents(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const following = followRun(parts);
  const end = (): void => {
    following.end();
    parts.onEnd();
  };
  const next = async (): Promise<string | undefined> => {
    let followed = await following.next();
    // Its events already say so.
    while (followed?.kind === "waiting") followed = await following.next();
    if (followed === undefined) return undefined;
    if (followed.kind === "quiet") return ": heartbeat\n\n";
    if (followed.kind === "text")
      return `event: text\ndata: ${JSON.stringify({ runId: parts.runId, text: followed.text })}\n\n`;
    return followed.events
      .map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(parts.project(event))}\n\n`)
      .join("");
  };
  return streamFrames({ next, end, onFault: parts.onFault });
}
