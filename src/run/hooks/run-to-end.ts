/**
 * The loop, and what the skill's `stop` hooks make of its end: a hook that blocks sends the model back to work, with its
 * reason as the next message. Bounded: by a number of times, and by the limits of the run.
 */
import type { ModelMessage } from "ai";
import { type LoopInput, type LoopOutcome, runLoop } from "../loop.ts";

export interface EndHooks {
  /** Why the run is to go on, in words for the model; `undefined`: it may end. */
  ask(continued: number): Promise<string | undefined>;
  /** A hook wants the run to go on, but it ends. */
  onOverruled(why: string): void;
}

const MOST_TIMES = 3;

export async function runToEnd(input: LoopInput, hooks: EndHooks | undefined): Promise<LoopOutcome> {
  let outcome = await runLoop(input);
  for (let continued = 0; hooks && outcome.ended === "answered"; continued++) {
    const reason = await hooks.ask(continued);
    if (input.signal.aborted) return { ...outcome, ended: "stopped" };
    if (reason === undefined) return outcome;
    const left = input.maxIterations - outcome.iterations;
    const why = whyEnd(continued, left, input);
    if (why !== undefined) {
      hooks.onOverruled(why);
      return outcome;
    }
    const message: ModelMessage = { role: "user", content: reason };
    const before = [...outcome.messages, message];
    const next = await runLoop({ ...input, maxIterations: left, messages: [...input.messages, ...before] });
    outcome = {
      ...next,
      iterations: outcome.iterations + next.iterations,
      messages: [...before, ...next.messages],
    };
  }
  return outcome;
}

function whyEnd(continued: number, left: number, { maxIterations, reached }: LoopInput): string | undefined {
  if (continued === MOST_TIMES) return `it has gone on ${MOST_TIMES} times already`;
  if (left <= 0) return `its ${maxIterations} steps are used`;
  const limit = reached();
  return limit && `its limit of ${limit} is reached`;
}
