/** Everyone who hears what happens in a run: its log, a recording, tracing, and whoever asked for it. */
import { openRunLog } from "../events/run-log.ts";
import { createRunRecorder, type RunRecorder, type RunSink } from "../events/run-recorder.ts";
import { createSpanSink } from "../events/spans.ts";
import type { Places } from "../host/places.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { RunRequest } from "./run-request.ts";

export interface RecorderInput extends Pick<RunRequest, "onEvent"> {
  readonly places: Places;
  readonly runId: string;
  readonly redactor: Redactor;
  readonly recording?: RunSink | undefined;
}

export async function openRecorder(input: RecorderInput): Promise<RunRecorder> {
  const { places, runId, redactor, recording, onEvent } = input;
  const spans = await createSpanSink();
  return createRunRecorder({
    runId,
    redactor,
    sinks: [
      ...(recording ? [recording] : []), // Closed before the log, which then says whether that failed.
      openRunLog(places, runId),
      ...(spans ? [spans] : []),
      ...(onEvent ? [{ name: "listener", write: onEvent }] : []),
    ],
  });
}
