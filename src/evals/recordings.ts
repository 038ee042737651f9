/**
 * Where the runs of an evaluation are recorded, one file each, and replayed from: `DIR/<eval>/<arm>/run-1.jsonl`. A
 * replay needs no model, so that a recorded evaluation runs anywhere.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRecording } from "../events/record.ts";
import { UsageError } from "../foundation/errors.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import type { GivenModel } from "../model/given-model.ts";
import { showNames } from "../validate/report.ts";
import { readJsonFile } from "./read/json-file.ts";

export interface RecordingChoice {
  /** A folder for recordings; made when it is not there. */
  readonly record?: string;
  /** A folder of recordings that answer in place of a model. */
  readonly replay?: string;
}

/** What a run is told of its model and its recording. */
export interface RecordedRequest {
  readonly model?: string | GivenModel;
  readonly record?: string;
}

export interface RecordedFacts {
  /** The model that answered. */
  readonly model: string;
  readonly durationMs: number;
}

export interface Recordings {
  readonly isReplay: boolean;
  /** `path` is that of the file, without its ending. Throws `UsageError` for one that is to be replayed and is not there. */
  requestFor(path: readonly string[], model?: string | GivenModel): RecordedRequest;
  has(path: readonly string[]): boolean;
  /** What the run was when it was recorded; `undefined` when nothing is replayed. */
  describe(path: readonly string[]): RecordedFacts | undefined;
  /** How many `run-N` are recorded below `path`. */
  countRuns(path: readonly string[]): number;
  /** Who was there to be chosen: kept when it is recorded, and then the same again, whoever is there besides. */
  chooseFrom(path: readonly string[], names: readonly string[]): readonly string[];
}

export function openRecordings({ record, replay }: RecordingChoice): Recordings {
  if (record !== undefined && replay !== undefined) {
    throw new UsageError("`record` and `replay` cannot be given together.", {
      hint: "Record with a model first, then replay what was recorded.",
    });
  }
  if (replay !== undefined) return openReplays(resolve(replay));
  const fileOf = (path: readonly string[]): string => join(resolve(record ?? ""), ...path);
  return {
    isReplay: false,
    requestFor(path, model) {
      const chosen = model !== undefined && { model };
      if (record === undefined) return { ...chosen };
      const file = `${fileOf(path)}.jsonl`;
      mkdirSync(dirname(file), { recursive: true });
      return { ...chosen, record: file };
    },
    has: () => false,
    describe: () => undefined,
    countRuns: () => 0,
    chooseFrom(path, names) {
      if (record !== undefined) writeAtomic(join(fileOf(path), NAMES_FILE), `${JSON.stringify(names)}\n`);
      return names;
    },
  };
}

function openReplays(folder: string): Recordings {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`There are no recordings at \`${folder}\`: it is no folder.`, {
      hint: RECORD_FIRST,
    });
  }
  const fileOf = (path: readonly string[]): string => `${join(folder, ...path)}.jsonl`;
  return {
    isReplay: true,
    requestFor(path) {
      const file = fileOf(path);
      if (!existsSync(file)) {
        throw new UsageError(`\`${file}\` is not there: this run was not recorded.`, { hint: RECORD_FIRST });
      }
      return { model: `replay:${file}` };
    },
    has: (path) => existsSync(fileOf(path)),
    describe: (path) => readFacts(fileOf(path)),
    countRuns(path) {
      const parent = join(folder, ...path);
      if (!existsSync(parent)) return 0;
      return readdirSync(parent).filter((name) => /^run-\d+\.jsonl$/.test(name)).length;
    },
    chooseFrom(path, names) {
      const recorded = readNames(join(folder, ...path, NAMES_FILE)) ?? names;
      const missing = recorded.filter((name) => !names.includes(name));
      if (missing.length === 0) return recorded;
      throw new UsageError(
        `When it was recorded, there was the skill ${showNames(missing)}; now there is not.`,
        {
          hint: "Make it usable, or record anew.",
        },
      );
    },
  };
}

/** Beside the recordings of what was chosen. */
const NAMES_FILE = "skills.json";

function readNames(file: string): readonly string[] | undefined {
  if (!existsSync(file)) return undefined;
  const read = readJsonFile(file);
  const names = read.ok ? read.file.value : undefined;
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) return names;
  throw new UsageError(`\`${file}\` is no list of names.`, { hint: RECORD_FIRST });
}

function readFacts(file: string): RecordedFacts | undefined {
  const recording = readRecording(file);
  const [start] = recording.ok ? recording.events : [];
  if (!recording.ok || start?.type !== "run-started") return undefined;
  const end = recording.events.find((event) => event.type === "run-finished" && event.runId === start.runId);
  return { model: start.model, durationMs: end?.type === "run-finished" ? end.durationMs : 0 };
}

const RECORD_FIRST =
  "Record them with a model: the same command with `--record <folder>` in place of `--replay`.";

/** A text as the name of a recording: readable, and another text has another one. */
export function recordingName(text: string): string {
  const words = text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${words.replace(/^-+/, "").slice(0, 40)}-${digest}`.replace(/-+/g, "-");
}
