/**
 * The log of one run, `<runs>/<id>/events.jsonl`: one line per event, written immediately, so a killed process leaves
 * everything up to its last event. Nothing waits for the disk: a power cut may lose the last seconds.
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
  if (!isRunId(runId)) throw new TypeError(`\`${runId}\` is not a run id.`);
  const folder = join(runs, runId);
  return { folder, log: join(folder, "events.jsonl"), work: join(folder, "work") };
}

/**
 * A log belongs to one run: it is an error if it already exists. A durable run's log, which may have been started
 * earlier, is first cut after the last event that counts (`lastSeq`).
 */
export function openRunLog(places: Pick<Places, "runs">, runId: string, lastSeq?: number): RunSink {
  const { folder, log } = runFolder(places, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lastSeq === 0) rmSync(log, { force: true });
  else if (lastSeq !== undefined) cutLog(log, lastSeq);
  return openEventFile("log", log, lastSeq !== undefined);
}

/** What a killed process wrote after the journal's last entry didn't happen. */
function cutLog(log: string, lastSeq: number): void {
  const read = readRunLog(log);
  const events = read.ok ? read.value.events.filter(({ seq }) => seq <= lastSeq) : [];
  rmSync(log, { force: true });
  writeFileSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(""), { mode: 0o600 });
}

/** Also for recordings: a new file in an existing folder. */
function openEventFile(name: string, file: string, goesOn = false): RunSink & { close(): void } {
  const descriptor = openSync(file, goesOn ? "a" : "ax", 0o600);
  return {
    name,
    /** In one write; if the file system takes only a part, the rest follows. */
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

/** Run ids sort by time and are safe as folder names. */
export function createRunId(now: number = Date.now()): string {
  const random = randomInt(36 ** RANDOM_DIGITS).toString(36);
  return `${now.toString(36).padStart(TIME_DIGITS, "0")}-${random.padStart(RANDOM_DIGITS, "0")}`;
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** When the run started, in milliseconds. */
export function runIdTime(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36);
}

/** The outcome of reading a recording: all its events in order, or why it can't be replayed. */
export type Recording =
  | { readonly ok: true; readonly events: readonly RunEvent[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

interface OpenRecording extends RunSink {
  /** Gives it its name, replacing any existing file. */
  close(): void;
  /** For a run that didn't start. */
  discard(): void;
}

/** Nested runs share it: each event names its run. A killed process leaves `.<name>.<…>.tmp` next to it. */
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

/** Follows a link to the file. A device must not be replaced by a file, and a folder must not be created by mistake. */
function findTarget(path: string): string {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  const target = existing?.isSymbolicLink() ? followLink(path) : path;
  if (existing && !lstatSync(target).isFile()) {
    throw new UsageError(`The run cannot be recorded to \`${path}\`: it is not a regular file.`, {
      hint: "Choose a new file, or a recording to replace.",
    });
  }
  return target;
}

function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    const message = `The run cannot be recorded to \`${path}\`: the link is broken.`;
    throw new UsageError(message, { cause });
  }
}

function openOrRefuse(temporary: string, path: string): ReturnType<typeof openEventFile> {
  try {
    return openEventFile("recording", temporary);
  } catch (cause) {
    const hint = "Choose a file in an existing folder that you can write to.";
    throw new UsageError(`The run cannot be recorded to \`${path}\`: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}

/**
 * A recording: the events of a run and the runs it starts, in a file the user chose. It gets that name when it is
 * complete: if two runs use the same name, the last to finish wins. Read strictly, because a replay must not guess.
 */
export function readRecording(path: string): Recording {
  const read = readRunLog(path);
  const hint = "Record one with `metier run <skill> --record <file>`.";
  if (!read.ok) return { ok: false, message: read.refusal.message, hint };
  const { events, unknown, broken, torn } = read.value;
  if (unknown > 0) {
    const message = `\`${path}\` has ${unknown} unknown events: a newer Metier recorded it.`;
    return { ok: false, message, hint: "Update Metier, or record the run again." };
  }
  if (broken > 0) {
    const message = `\`${path}\` is not a recording: ${broken} of its lines are not events.`;
    return { ok: false, message, hint };
  }
  if (events[0]?.type !== "run-started") {
    const message = `\`${path}\` does not start with the start of a run${torn ? ": it is cut off" : ""}.`;
    return { ok: false, message, hint };
  }
  return { ok: true, events };
}
