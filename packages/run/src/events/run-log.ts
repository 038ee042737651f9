/**
 * The log of one run, `<runs>/<id>/events.jsonl`: one line per event, each written at once, so that a process that is
 * killed leaves everything up to its last event. Nothing waits for the disk: a power cut may cost the last seconds.
 */
import { randomBytes, randomInt } from "node:crypto";
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "@metier/base/errors";
import type { Places } from "@metier/base/places";
import { readRunLog } from "./read-log.ts";
import type { RunEvent } from "./run-event.ts";
import type { RunSink } from "./run-recorder.ts";

interface RunFolder {
  readonly folder: string;
  readonly log: string;
  /** `$METIER_WORK_DIR` */
  readonly work: string;
}

export function runFolder({ runs }: Pick<Places, "runs">, runId: string): RunFolder {
  if (!isRunId(runId)) throw new TypeError(`\`${runId}\` is no run id.`);
  const folder = join(runs, runId);
  return { folder, log: join(folder, "events.jsonl"), work: join(folder, "work") };
}

/**
 * A log belongs to one run: it is an error when it is there already. That of a durable run, which may have been begun before,
 * is cut after the last event that counts (`lastSeq`) first.
 */
export function openRunLog(places: Pick<Places, "runs">, runId: string, lastSeq?: number): RunSink {
  const { folder, log } = runFolder(places, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lastSeq === 0) rmSync(log, { force: true });
  else if (lastSeq !== undefined) cutLog(log, lastSeq);
  return openEventFile("log", log, lastSeq !== undefined);
}

/** What a killed process wrote after its journal's last word did not happen. */
function cutLog(log: string, lastSeq: number): void {
  const read = readRunLog(log);
  const events = read.ok ? read.value.events.filter(({ seq }) => seq <= lastSeq) : [];
  rmSync(log, { force: true });
  writeFileSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(""), { mode: 0o600 });
}

/** Also for recordings: a new file, in a folder that is there. */
function openEventFile(name: string, file: string, goesOn = false): RunSink & { close(): void } {
  const descriptor = openSync(file, goesOn ? "a" : "ax", 0o600);
  return {
    name,
    /** In one write; a file system that takes only a part is given the rest. */
    write(event) {
      if (event.type === "text-delta") return;
      const line = `${JSON.stringify(event)}\n`;
      const written = writeSync(descriptor, line);
      if (written === Buffer.byteLength(line)) return;
      const bytes = Buffer.from(line);
      for (let at = written; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    },
    close: () => closeSync(descriptor),
  };
}

const RUN_ID = /^[0-9a-z]{8}-[0-9a-z]{6}$/;
/** Eight digits to the base of 36 hold milliseconds until the year 2059. */
const TIME_DIGITS = 8;
const RANDOM_DIGITS = 6;

/** Names of runs: sorted by name they are sorted by time, and they are safe as names of folders. */
export function createRunId(now: number = Date.now()): string {
  const random = randomInt(36 ** RANDOM_DIGITS).toString(36);
  return `${now.toString(36).padStart(TIME_DIGITS, "0")}-${random.padStart(RANDOM_DIGITS, "0")}`;
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** When the run began, in milliseconds. */
export function runIdTime(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36);
}

/** The outcome of reading a recording: all its events in order, or why it cannot be replayed. */
export type Recording =
  | { readonly ok: true; readonly events: readonly RunEvent[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

interface OpenRecording extends RunSink {
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
    const message = `A run cannot be recorded to \`${path}\`: it is a link that leads nowhere.`;
    throw new UsageError(message, { cause });
  }
}

function openOrRefuse(temporary: string, path: string): ReturnType<typeof openEventFile> {
  try {
    return openEventFile("recording", temporary);
  } catch (cause) {
    const hint = "Name a file in a folder that exists and that you may write to.";
    throw new UsageError(`A run cannot be recorded to \`${path}\`: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}

/**
 * A recording: the events of a run, and of the runs it starts, in a file of the user's choosing. It takes that name when it
 * is whole: of two runs with one name the last to finish counts. Read strictly, since a replay must not guess.
 */
export function readRecording(path: string): Recording {
  const read = readRunLog(path);
  const hint = "Record one with `metier run <skill> --record <file>`.";
  if (!read.ok) return { ok: false, message: read.refusal.message, hint };
  const { events, unknown, broken, torn } = read.value;
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
