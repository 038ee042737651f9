/**
 * A recording: the events of a run, and of the runs it starts, in a file of the user's choosing. Written as they happen, so
 * an interrupted run leaves a recording of what it did; read strictly, since a replay must not guess.
 */
import { readBounded } from "../host/read-bounded.ts";
import { parseEventLines } from "./parse-event.ts";
import type { RunEvent } from "./run-event.ts";
import { openEventFile } from "./run-log.ts";
import type { RunSink } from "./run-recorder.ts";

const MOST_BYTES = 256 * 1024 * 1024;

export type Recording =
  | { readonly ok: true; readonly events: readonly RunEvent[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/** Replaces what is there. Nested runs share it: each event names its run. */
export function openRecording(path: string): RunSink {
  return openEventFile("recording", path, "w");
}

export function readRecording(path: string): Recording {
  const read = readBounded(path, MOST_BYTES);
  const hint = "Record one with `metier run <skill> --record <file>`.";
  if (!read.ok) return { ok: false, message: read.message, hint };
  const { events, unknown, broken, torn } = parseEventLines(read.text);
  if (unknown > 0) {
    const message = `\`${path}\` has ${unknown} events that this version does not know: it was recorded by a newer one.`;
    return { ok: false, message, hint: "Update Metier, or record the run again." };
  }
  if (broken > 0) {
    const message = `\`${path}\` is no recording: ${broken} of its lines are no events.`;
    return { ok: false, message, hint };
  }
  if (events[0]?.type !== "run-started") {
    const message = `\`${path}\` does not begin with the start of a run${torn ? ": it is cut off" : ""}.`;
    return { ok: false, message, hint };
  }
  return { ok: true, events };
}
