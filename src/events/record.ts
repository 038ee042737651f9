/**
 * A recording: the events of a run, and of the runs it starts, in a file of the user's choosing. It takes that name when it
 * is whole: of two runs with one name the last to finish counts. Read strictly, since a replay must not guess.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../foundation/errors.ts";
import { readBounded } from "../host/read-bounded.ts";
import { parseEventLines } from "./parse-event.ts";
import type { RunEvent } from "./run-event.ts";
import { openEventFile } from "./run-log.ts";
import type { RunSink } from "./run-recorder.ts";

const MOST_BYTES = 256 * 1024 * 1024;

export type Recording =
  | { readonly ok: true; readonly events: readonly RunEvent[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

export interface OpenRecording extends RunSink {
  /** Gives it its name, in place of what had it. */
  close(): void;
  /** For a run that did not come about. */
  discard(): void;
}

/** Nested runs share it: each event names its run. A process that is killed leaves `.<name>.<…>.tmp` beside it. */
export function openRecording(path: string): OpenRecording {
  const target = findTarget(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  const { write, close } = openOrRefuse(temporary, path);
  return {
    name: "recording",
    write,
    close() {
      close();
      renameSync(temporary, target);
    },
    discard() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/** Through a link to the file it names. A device must not be replaced by a file, nor a folder be made by mistake. */
function findTarget(path: string): string {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  const target = existing?.isSymbolicLink() ? followLink(path) : path;
  if (existing && !lstatSync(target).isFile()) {
    throw new UsageError(`A run cannot be recorded to \`${path}\`: it is no regular file.`, {
      hint: "Name a new file, or a recording that is to be replaced.",
    });
  }
  return target;
}

function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new UsageError(`A run cannot be recorded to \`${path}\`: it is a link that leads nowhere.`, {
      cause,
    });
  }
}

function openOrRefuse(temporary: string, path: string): ReturnType<typeof openEventFile> {
  try {
    return openEventFile("recording", temporary);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new UsageError(`A run cannot be recorded to \`${path}\`: ${reason}`, {
      hint: "Name a file in a folder that exists and that you may write to.",
      cause,
    });
  }
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
