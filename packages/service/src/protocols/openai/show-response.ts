/** A response as OpenAI's clients read it. */
import type { JsonObject } from "@metier/base/json";
import { type DurableRun, ENDED } from "@metier/durable";
import { pinnedOf } from "../../runs/project-run.ts";
import { textIn } from "../foreign-shapes.ts";
import { isWhole, type ResponseState, responseId } from "./project-response.ts";

export function showResponse(
  state: ResponseState,
  run: DurableRun,
  status = statusOf(state, run),
): JsonObject {
  const { usage, part, run: id } = state;
  const isEnded = status !== "queued" && status !== "in_progress";
  const previous = part === 0 ? {} : { previous_response_id: responseId({ run: id, part: part - 1 }) };
  return {
    id: responseId(state),
    object: "response",
    created_at: Math.floor(run.createdAt / 1000),
    status,
    model: modelOf(run),
    output: [...state.output],
    error: status === "failed" ? faultOf(state) : null,
    incomplete_details:
      status === "incomplete" && state.limit === "tokens" ? { reason: "max_output_tokens" } : null,
    ...previous,
    ...(isEnded && {
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input + usage.output,
      },
    }),
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    top_p: null,
    tool_choice: "auto",
    tools: [],
  };
}

/** Everything of a run up to now was taken. */
function statusOf(state: ResponseState, run: DurableRun): string {
  if (state.at > state.part) return "completed";
  if (state.at === state.part && state.ending !== undefined) return state.ending;
  if (run.isCancelled || run.status === "cancelled") return "cancelled";
  if (isWhole(state, run.status === "waiting")) return "completed";
  // A run that ended without an event of its own.
  if (ENDED.has(run.status)) return run.status === "completed" ? "completed" : "failed";
  return run.status === "queued" && state.part === 0 ? "queued" : "in_progress";
}

/** The event that a stream ends with. */
export function endFrame(response: JsonObject): JsonObject & { readonly type: string } {
  const { status } = response;
  const type = status === "completed" || status === "failed" ? status : "incomplete";
  return { type: `response.${type}`, response };
}

function modelOf(run: DurableRun): string {
  return run.skill === undefined ? textIn(pinnedOf(run).agent) : `skill/${run.skill}`;
}

function faultOf({ error }: ResponseState): JsonObject {
  return { code: "server_error", message: textIn(error?.message) || "The run has failed." };
}
