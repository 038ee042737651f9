/** Turns Ollama's answer, line by line, into parts of the AI SDK's stream, after checking its shape. */
import { randomUUID } from "node:crypto";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  countShape,
  fitShape,
  flagShape,
  jsonShape,
  listShape,
  recordShape,
  textShape,
} from "@metier/base/shape";

const CALL = recordShape<{ readonly function: { readonly name: string; readonly arguments: unknown } }>({
  function: recordShape<{ readonly name: string; readonly arguments: unknown }>({
    name: textShape,
    arguments: jsonShape,
  }),
});

interface AnswerLine {
  readonly message?: {
    readonly content?: string;
    readonly thinking?: string;
    readonly tool_calls?: readonly {
      readonly function: { readonly name: string; readonly arguments: unknown };
    }[];
  };
  readonly done?: boolean;
  readonly done_reason?: string;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
  readonly error?: string;
}

const LINE = recordShape<AnswerLine>(
  {
    message: recordShape<NonNullable<AnswerLine["message"]>>(
      { content: textShape, thinking: textShape, tool_calls: listShape(CALL) },
      ["content", "thinking", "tool_calls"],
    ),
    done: flagShape,
    done_reason: textShape,
    prompt_eval_count: countShape,
    eval_count: countShape,
    error: textShape,
  },
  ["message", "done", "done_reason", "prompt_eval_count", "eval_count", "error"],
);

type Block = "text" | "reasoning";

/** Tracks which block is open between lines. */
export function createOllamaReader(): (line: string) => readonly LanguageModelV4StreamPart[] {
  let open: { readonly kind: Block; readonly id: string } | undefined;
  let calls = 0;

  const close = (): readonly LanguageModelV4StreamPart[] => {
    const ended = open;
    open = undefined;
    return ended ? [{ type: `${ended.kind}-end`, id: ended.id }] : [];
  };
  const add = (kind: Block, delta = ""): readonly LanguageModelV4StreamPart[] => {
    if (delta === "") return [];
    if (open?.kind === kind) return [{ type: `${kind}-delta`, id: open.id, delta }];
    const before = close();
    const id = randomUUID();
    open = { kind, id };
    return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }];
  };
  const call = ({
    function: { name, arguments: given },
  }: Calls[number]): readonly LanguageModelV4StreamPart[] => {
    calls += 1;
    const input = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return [{ type: "tool-call", toolCallId: randomUUID(), toolName: name, input }];
  };
  return (text) => {
    const line = fitShape(LINE, parseLine(text));
    if (line === undefined)
      return [{ type: "error", error: new Error("Ollama sent a line that is not an answer.") }];
    if (line.error !== undefined) return [{ type: "error", error: new Error(line.error.slice(0, 500)) }];
    const { message: { content, thinking, tool_calls = [] } = {} } = line;
    const said = [...add("reasoning", thinking), ...add("text", content)];
    const called = tool_calls.length > 0 ? [...close(), ...tool_calls.flatMap(call)] : [];
    return [...said, ...called, ...(line.done ? [...close(), finish(line, calls)] : [])];
  };
}

type Calls = NonNullable<NonNullable<AnswerLine["message"]>["tool_calls"]>;

function finish(
  { done_reason: raw = "stop", prompt_eval_count: input, eval_count: output }: AnswerLine,
  calls: number,
): LanguageModelV4StreamPart {
  const unified = raw === "length" ? "length" : calls > 0 ? "tool-calls" : raw === "stop" ? "stop" : "other";
  return {
    type: "finish",
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  };
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller reports it.
  }
}
