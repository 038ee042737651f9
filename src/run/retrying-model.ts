/** A model that is asked again after a passing fault, and a run's record of each time it was. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { RunRecorder } from "../events/run-recorder.ts";
import { retryModel } from "../model/retry.ts";

export function retryingModel(model: LanguageModelV4, recorder: RunRecorder): LanguageModelV4 {
  let step = 0;
  const retried = retryModel(model, {
    onRetry: (retry) => recorder.emit({ type: "model-retried", step, ...retry }),
  });
  return {
    ...retried,
    doStream: (options) => {
      step += 1;
      return retried.doStream(options);
    },
  };
}
