/**
 * The log of one run, `<runs>/<id>/events.jsonl`: one line per event, each written at once, so that a process that is
 * killed leaves everything up to its last event. Nothing waits for the disk: a power cut may cost the last seconds.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../host/places.ts";
import type { RunEvent } from "./run-event.ts";
import { isRunId } from "./run-id.ts";
import type { RunSink } from "./run-recorder.ts";

export interface RunFolder {
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

/** A log belongs to one run: it is an error when it is there already. */
export function openRunLog(places: Pick<Places, "runs">, runId: string): RunSink {
  const { folder, log } = runFolder(places, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return openEventFile("log", log);
}

/** Also for recordings: a new file, in a folder that is there. */
export function openEventFile(name: string, file: string): RunSink & { close(): void } {
  const descriptor = openSync(file, "ax", 0o600);
  return {
    name,
    write(event) {
      if (event.type !== "text-delta") writeLine(descriptor, event);
    },
    close: () => closeSync(descriptor),
  };
}

/** In one write; a file system that takes only a part is given the rest. */
function writeLine(descriptor: number, event: RunEvent): void {
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
