/** The events of a recording, taken apart into runs and the steps in which each asked its model. */
import type { RunEvent } from "../events/run-event.ts";
import type { RunPlace } from "./placeholders.ts";

type Called = Extract<RunEvent, { type: "model-called" }>;
type Answered = Extract<RunEvent, { type: "model-answered" }>;

export interface RecordedStep {
  readonly called: Called;
  /** Absent where the run ended before the answer. */
  readonly answered?: Answered;
}

export interface RecordedRun {
  readonly runId: string;
  readonly skill?: string;
  readonly parentRunId?: string;
  readonly place: RunPlace;
  readonly steps: readonly RecordedStep[];
}

/** In the order in which they began. */
export function readRuns(events: readonly RunEvent[]): readonly RecordedRun[] {
  const byRun = Map.groupBy(events, ({ runId }) => runId);
  const times = events.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
  const clock = { clock: { from: times[0] ?? 0, to: times.at(-1) ?? 0 } };
  const places = new Map<string, RunPlace>();
  return [...byRun].map(([runId, own]) => {
    const started = own.find((event) => event.type === "run-started");
    const parent = places.get(started?.parentRunId ?? "");
    const place: RunPlace = {
      runId,
      ...clock,
      ...(started && { workDir: started.workDir, cwd: started.cwd }),
      ...(started?.skillDir !== undefined && { skillDir: started.skillDir }),
      ...(parent && { parent }),
    };
    places.set(runId, place);
    return {
      runId,
      place,
      steps: readSteps(own),
      ...(started && { skill: started.skill }),
      ...(started?.parentRunId !== undefined && { parentRunId: started.parentRunId }),
    };
  });
}

function readSteps(events: readonly RunEvent[]): readonly RecordedStep[] {
  return events
    .filter((event): event is Called => event.type === "model-called")
    .map((called) => {
      const answered = events.find(
        (event): event is Answered => event.type === "model-answered" && event.step === called.step,
      );
      return answered ? { called, answered } : { called };
    });
}
