/** The tools that a run called, in order: with which input, whether they were carried out, and what they answered. */
import type { RunEvent } from "../events/run-event.ts";
import type { Json } from "../skill/manifest.ts";

export interface TestedCall {
  readonly tool: string;
  readonly input: Json;
  /** It was not carried out: not allowed, not offered, blocked by a hook, or with input that does not fit. */
  readonly denied: boolean;
  /** What the model was told; `""` when the run ended before. */
  readonly text: string;
  readonly isError: boolean;
}

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

/** Of one run, as its model asked for them; runs that it started have calls of their own. */
export function listToolCalls(events: readonly RunEvent[], runId: string): readonly TestedCall[] {
  const own = events.filter((event) => event.runId === runId);
  const called = byCall(own.filter((event): event is EventOf<"tool-called"> => event.type === "tool-called"));
  const finished = byCall(
    own.filter((event): event is EventOf<"tool-finished"> => event.type === "tool-finished"),
  );
  const asked = own.flatMap((event) => (event.type === "model-answered" ? event.parts : []));
  return asked.flatMap((part): readonly TestedCall[] => {
    if (part.type !== "tool-call") return [];
    const { callId, tool, input } = part;
    const { text = "", isError = false } = finished.get(callId) ?? {};
    const { decision = "deny" } = called.get(callId) ?? {};
    return [{ tool, input, denied: decision === "deny", text, isError }];
  });
}

function byCall<Event extends { readonly callId: string }>(
  events: readonly Event[],
): ReadonlyMap<string, Event> {
  return new Map(events.map((event) => [event.callId, event]));
}
