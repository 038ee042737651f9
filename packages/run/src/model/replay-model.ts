/**
 * A model that repeats a recorded run's answers, without a network. Tools run for real; if the request differs from the
 * recording, the replay ends with the first difference. Nested runs have their own recordings.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
} from "@ai-sdk/provider";
import { MetierError } from "@metier/base/errors";
import { done, type Result, refused } from "@metier/base/result";
import type { RunEvent } from "../events/run-event.ts";
import { readRecording } from "../events/run-log.ts";
import { compareRequest, type RecordedPlace, type RequestDifference } from "./compare-request.ts";
import {
  type AnswerPart,
  giveStream,
  giveWhole,
  type PreparedAnswer,
  recordMessages,
  systemText,
} from "./messages.ts";
import type { ModelRefusal } from "./model-request.ts";

/** A run to be replayed, as it is now. */
export interface ReplayedRun {
  readonly runId: string;
  readonly skill: string;
  readonly parentRunId?: string | undefined;
  readonly workDir?: string | undefined;
  readonly skillDir?: string | undefined;
  readonly cwd?: string | undefined;
}

export interface Replay {
  /** The model for one run: the next recorded run of that skill with the same caller. */
  modelFor(run: ReplayedRun): LanguageModelV4;
  /** Recorded runs that weren't replayed to the end, as sentences; empty if all were. */
  unfinished(): readonly string[];
}

export class ReplayDivergenceError extends MetierError {
  readonly step: number;
  readonly what: string;
  readonly recorded: string;
  readonly came: string;
  constructor(step: number, { what, recorded, came }: RequestDifference) {
    super(
      "replay.diverged",
      `The replay differs from the recording at step ${step}, in ${what}.\n  recorded: ${recorded}\n  now:      ${came}`,
      { hint: "Record the run again if the difference is intended." },
    );
    this.step = step;
    this.what = what;
    this.recorded = recorded;
    this.came = came;
  }
}

export function createReplay(events: readonly RunEvent[]): Replay {
  const runs = readRuns(events);
  const startedAt = Date.now();
  const begun = new Map<
    string,
    { readonly recorded: RecordedRun; readonly place: RecordedPlace; asked: number }
  >();
  const taken = new Set<RecordedRun>();
  return {
    modelFor(run) {
      const parent = begun.get(run.parentRunId ?? "");
      const recorded = runs.find(
        (candidate) =>
          !taken.has(candidate) &&
          candidate.parentRunId === parent?.recorded.runId &&
          (candidate.skill === undefined || candidate.skill === run.skill),
      );
      if (recorded === undefined) return replayModel(run.skill, () => Promise.reject(notRecorded(run, runs)));
      taken.add(recorded);
      const { runId, workDir, skillDir, cwd } = run;
      const place = { runId, workDir, skillDir, cwd, parent: parent?.place };
      const state = { recorded, place, asked: 0 };
      begun.set(run.runId, state);
      let known = 0;
      return replayModel(run.skill, async ({ prompt }) => {
        const step = recorded.steps[state.asked];
        state.asked += 1;
        const system = known === 0 ? systemText(prompt) : undefined;
        const messages = recordMessages(prompt.slice(known));
        known = prompt.length;
        const now = { ...place, clock: { from: startedAt, to: Date.now() } };
        return answerStep(step, state.asked, recorded.place, { request: { messages, system }, place: now });
      });
    },
    unfinished() {
      return [...begun.values()]
        .filter(({ recorded, asked }) => asked < recorded.steps.length)
        .map(
          ({ recorded: { skill, steps }, asked }) =>
            `The recorded run of \`${skill}\` asked its model ${steps.length} times; the replay ended after ${asked}.`,
        );
    },
  };
}

function replayModel(
  skill: string,
  answer: (options: LanguageModelV4CallOptions) => Promise<PreparedAnswer>,
): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "replay",
    modelId: skill,
    supportedUrls: {},
    doGenerate: async (options) => giveWhole(await answer(options)),
    doStream: async (options) => giveStream(await answer(options), options.abortSignal),
  };
}

function answerStep(
  step: RecordedStep | undefined,
  number: number,
  recordedPlace: RecordedPlace,
  came: Parameters<typeof compareRequest>[1],
): PreparedAnswer {
  const nothing = { messages: [] };
  const difference = compareRequest({ request: step?.called ?? nothing, place: recordedPlace }, came);
  if (difference) throw new ReplayDivergenceError(number, difference);
  if (step?.answered === undefined) {
    throw new ReplayDivergenceError(number, {
      what: "the model's answer",
      recorded: "(nothing: the recorded run ended here)",
      came: "(the model was asked)",
    });
  }
  const { parts, finishReason, usage } = step.answered;
  return {
    id: `text-${number}`,
    parts: parts.flatMap((part): readonly AnswerPart[] => {
      if (part.type === "text") return [{ type: "text", text: part.text }];
      if (part.type === "tool-result") return [];
      const { callId, tool, input } = part;
      // A string is what couldn't be read as JSON; the model wrote it that way.
      return [
        { type: "tool-call", callId, tool, input: typeof input === "string" ? input : JSON.stringify(input) },
      ];
    }),
    finishReason: finishReason as LanguageModelV4FinishReason["unified"],
    usage,
  };
}

function notRecorded({ skill }: ReplayedRun, runs: readonly RecordedRun[]): ReplayDivergenceError {
  const skills = runs.map((run) => `\`${run.skill}\``);
  return new ReplayDivergenceError(1, {
    what: "the runs that were started",
    recorded: skills.join(", ") || "(none)",
    came: `another run of \`${skill}\``,
  });
}

/** One request to the model. */
interface RecordedStep {
  readonly called: Extract<RunEvent, { type: "model-called" }>;
  /** Absent if the run ended before the answer. */
  readonly answered?: Extract<RunEvent, { type: "model-answered" }> | undefined;
}

interface RecordedRun {
  readonly runId: string;
  readonly skill?: string | undefined;
  readonly parentRunId?: string | undefined;
  readonly place: RecordedPlace;
  readonly steps: readonly RecordedStep[];
}

/** Splits the events of a recording into runs, in the order in which they started. */
function readRuns(events: readonly RunEvent[]): readonly RecordedRun[] {
  const byRun = Map.groupBy(events, ({ runId }) => runId);
  const times = events.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
  const clock = { from: times[0] ?? 0, to: times.at(-1) ?? 0 };
  const places = new Map<string, RecordedPlace>();
  return [...byRun].map(([runId, own]) => {
    const started = own.find((event) => event.type === "run-started");
    const { skill, parentRunId, workDir, skillDir, cwd } = started ?? {};
    const place: RecordedPlace = {
      runId,
      clock,
      workDir,
      skillDir,
      cwd,
      parent: places.get(parentRunId ?? ""),
    };
    places.set(runId, place);
    return { runId, place, steps: readSteps(own), skill, parentRunId };
  });
}

function readSteps(events: readonly RunEvent[]): readonly RecordedStep[] {
  const answers = events.filter((event) => event.type === "model-answered");
  return events
    .filter((event) => event.type === "model-called")
    .map((called) => ({ called, answered: answers.find(({ step }) => step === called.step) }));
}

/** The `replay` provider: a recording from a file. */
export function openReplay(
  path: string,
  run: ReplayedRun | undefined,
): Result<{ readonly model: LanguageModelV4; readonly replay: Replay }, ModelRefusal> {
  if (run === undefined) {
    return refused({
      message: `Only a run can replay \`${path}\`.`,
      hint: "Use `metier run <skill> --replay <file>`, or another provider.",
    });
  }
  const recording = readRecording(path);
  if (!recording.ok) return refused({ message: recording.message, hint: recording.hint });
  const replay = createReplay(recording.events);
  return done({ model: replay.modelFor(run), replay });
}
