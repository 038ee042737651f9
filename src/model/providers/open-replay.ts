/** The `replay` provider: a recording from a file. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { readRecording } from "../../events/record.ts";
import type { ModelFailure } from "../model-request.ts";
import { createReplay, type Replay, type ReplayedRun } from "../replay-model.ts";

export type OpenedReplay =
  | { readonly ok: true; readonly model: LanguageModelV4; readonly replay: Replay }
  | ModelFailure;

export function openReplay(path: string, run: ReplayedRun | undefined): OpenedReplay {
  if (run === undefined) {
    return {
      ok: false,
      message: `\`${path}\` can only be replayed by a run.`,
      hint: "Use `metier run <skill> --replay <file>`, or another provider.",
    };
  }
  const recording = readRecording(path);
  if (!recording.ok) return recording;
  const replay = createReplay(recording.events);
  return { ok: true, model: replay.modelFor(run), replay };
}
