/** What a request for a response says: a message, or answers to approvals. */
import { isJsonObject } from "@metier/base/json";
import { refuseShape, type Shape, tableShape, testedShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { ignored, notTaken, orNull, textBlocks } from "../foreign-shapes.ts";

interface ApprovalAnswer {
  readonly id: string;
  readonly approve: boolean;
  readonly reason?: string | undefined;
}

/** One of both. */
interface ResponseInput {
  readonly message?: string;
  readonly answers?: readonly ApprovalAnswer[];
}

const content = textBlocks("input_text", "text");

const inputShape: Shape<ResponseInput> = (value, place) => {
  if (typeof value === "string") return { message: value };
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const answers = items.flatMap((item) => readAnswer(item) ?? []);
  if (answers.length > 0 && answers.length === items.length) return { answers };
  const said = items.map((item) => {
    const { type = "message", role, content: text } = isJsonObject(item) ? item : {};
    return type === "message" && role === "user" ? content(text, place) : undefined;
  });
  const texts = said.filter((text) => text !== undefined);
  if (texts.length > 0 && texts.length === items.length) return { message: texts.join("\n\n") };
  const hint = "Continue a conversation with `previous_response_id` instead of its messages.";
  return refuseShape(value, place, "a text, messages of the user, or answers to approvals", hint);
};

function readAnswer(item: unknown): ApprovalAnswer | undefined {
  const { type, approval_request_id: id, approve, reason } = isJsonObject(item) ? item : {};
  if (type !== "mcp_approval_response" || typeof id !== "string" || typeof approve !== "boolean")
    return undefined;
  return {
    id,
    approve,
    ...(typeof reason === "string" && reason !== "" && { reason: reason.slice(0, 10_000) }),
  };
}

const flag = orNull(
  testedShape((value): value is boolean => typeof value === "boolean", "`true` or `false`"),
);

export interface ResponseBody {
  readonly model?: string;
  readonly input: ResponseInput;
  readonly stream?: boolean | null;
  readonly background?: boolean | null;
  readonly previous_response_id?: string | null;
}

const BY_AGENT = "An agent of Metier has its own: put it there, and name the agent as the model.";

/** Fields that Metier cannot honor are refused; those that change nothing about the answer are not looked at. */
export const responseShape: Shape<ResponseBody> = tableShape<
  ResponseBody & Readonly<Record<string, unknown>>
>(
  {
    model: boundedText(300, 1),
    input: inputShape,
    stream: flag,
    background: flag,
    previous_response_id: orNull(boundedText(200)),
    instructions: notTaken(BY_AGENT),
    tools: notTaken(BY_AGENT),
    max_output_tokens: notTaken(BY_AGENT),
    max_tool_calls: notTaken(BY_AGENT),
    temperature: notTaken(BY_AGENT),
    top_p: notTaken(BY_AGENT),
    reasoning: notTaken(BY_AGENT),
    text: notTaken("The answer is text."),
    metadata: notTaken("Metier keeps no metadata of runs."),
    conversation: notTaken("Use `previous_response_id`."),
    prompt: notTaken(BY_AGENT),
    store: testedShape((value): value is true => value === true, "`true`: Metier keeps every run"),
    include: ignored,
    parallel_tool_calls: ignored,
    tool_choice: testedShape((value): value is "auto" => value === "auto", "`auto`"),
    truncation: ignored,
    service_tier: ignored,
    stream_options: ignored,
    prompt_cache_key: ignored,
    prompt_cache_retention: ignored,
    safety_identifier: ignored,
    user: ignored,
  },
  ["input"],
);
