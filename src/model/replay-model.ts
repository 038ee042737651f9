/**
 * A model that answers what a recorded run was answered, without a network. Tools run for real; when what the model is
 * asked differs from the recording, the replay ends with the first difference. Nested runs have recordings of their own.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
} from "@ai-sdk/provider";
import type { RunEvent } from "../events/run-event.ts";
import { MetierError } from "../foundation/errors.ts";
import { compareRequest, type Difference } from "./compare-request.ts";
import type { RunPlace } from "./placeholders.ts";
import { type AnswerPart, giveStream, giveWhole, type PreparedAnswer } from "./prepared-answer.ts";
import { recordMessages, systemText } from "./record-prompt.ts";
import { type RecordedRun, type RecordedStep, readRuns } from "./recorded-run.ts";

/** A run that is to be replayed, as it is now. */
export interface ReplayedRun {
  readonly runId: string;
  readonly skill: string;
  readonly parentRunId?: string;
  readonly workDir?: string;
  readonly skillDir?: string;
  readonly cwd?: string;
}

export interface Replay {
  /** The model of one run: of the next recorded one of that skill, below the same caller. */
  modelFor(run: ReplayedRun): LanguageModelV4;
  /** Recorded runs that were not replayed to their end, as sentences; empty when all were. */
  unfinished(): readonly string[];
}

export class ReplayDivergenceError extends MetierError {
  readonly step: number;
  readonly what: string;
  readonly recorded: string;
  readonly came: string;
  constructor(step: number, { what, recorded, came }: Difference) {
    super(
      "replay.diverged",
      `The replay differs from the recording at step ${step}, in ${what}.\n  recorded: ${recorded}\n  came:     ${came}`,
      { hint: "Record the run anew if the difference is wanted." },
    );
    this.step = step;
    this.what = what;
    this.recorded = recorded;
    this.came = came;
  }
}

/** A recording of one run, without nested ones. */
export function createReplayModel(events: readonly RunEvent[], run: ReplayedRun): LanguageModelV4 {
  return createReplay(events).modelFor(run);
}

export function createReplay(events: readonly RunEvent[]): Replay {
  const runs = readRuns(events);
  const startedAt = Date.now();
  const begun = new Map<
    string,
    { readonly recorded: RecordedRun; readonly place: RunPlace; asked: number }
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
      const state = {
        recorded,
        place: { ...placeOf(run), ...(parent && { parent: parent.place }) },
        asked: 0,
      };
      begun.set(run.runId, state);
      let known = 0;
      return replayModel(run.skill, async ({ prompt }) => {
        const step = recorded.steps[state.asked];
        state.asked += 1;
        const system = known === 0 ? systemText(prompt) : undefined;
        const messages = recordMessages(prompt.slice(known));
        known = prompt.length;
        const place = { ...state.place, clock: { from: startedAt, to: Date.now() } };
        return answerStep(step, state.asked, recorded.place, {
          request: { messages, ...(system !== undefined && { system }) },
          place,
        });
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
  recordedPlace: RunPlace,
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
      // A text is what could not be read as JSON; the model had written it so.
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
    came: `a further run of \`${skill}\``,
  });
}

function placeOf({ runId, workDir, skillDir, cwd }: ReplayedRun): RunPlace {
  return {
    runId,
    ...(workDir !== undefined && { workDir }),
    ...(skillDir !== undefined && { skillDir }),
    ...(cwd !== undefined && { cwd }),
  };
}
