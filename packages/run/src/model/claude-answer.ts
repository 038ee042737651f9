/**
 * Turns the output of the `claude` program, line by line, into parts of the AI SDK's stream. Its first line lists its
 * tools and MCP servers: unless it reports none and uses none of its own tools, nothing passes.
 */
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
import { readTextAnswer } from "./text-tools.ts";

export interface ClaudeReader {
  read(line: string): readonly LanguageModelV4StreamPart[];
  /** The answer has ended, or a rule was broken. */
  readonly isOver: boolean;
  /** It reported that it has no tools. */
  readonly hasBegun: boolean;
}

interface ClaudeLine {
  readonly type: string;
  readonly subtype?: string;
  readonly tools?: readonly unknown[];
  readonly mcp_servers?: readonly unknown[];
  readonly event?: {
    readonly type: string;
    readonly content_block?: { readonly type: string };
    readonly delta?: { readonly type?: string; readonly text?: string };
  };
  readonly is_error?: boolean;
  readonly result?: string;
  readonly stop_reason?: string | null;
  readonly usage?: {
    readonly input_tokens?: number;
    readonly cache_read_input_tokens?: number;
    readonly cache_creation_input_tokens?: number;
    readonly output_tokens?: number;
  };
}

type Event = NonNullable<ClaudeLine["event"]>;
type Usage = NonNullable<ClaudeLine["usage"]>;

const USAGE = recordShape<Usage>(
  {
    input_tokens: countShape,
    cache_read_input_tokens: countShape,
    cache_creation_input_tokens: countShape,
    output_tokens: countShape,
  },
  ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"],
);

const EVENT = recordShape<Event>(
  {
    type: textShape,
    content_block: recordShape<NonNullable<Event["content_block"]>>({ type: textShape }),
    delta: recordShape<NonNullable<Event["delta"]>>({ type: textShape, text: textShape }, ["type", "text"]),
  },
  ["content_block", "delta"],
);

const LINE = recordShape<ClaudeLine>(
  {
    type: textShape,
    subtype: textShape,
    tools: listShape(jsonShape),
    mcp_servers: listShape(jsonShape),
    event: EVENT,
    is_error: flagShape,
    result: textShape,
    stop_reason: jsonShape as never,
    usage: USAGE,
  },
  ["subtype", "tools", "mcp_servers", "event", "is_error", "result", "stop_reason", "usage"],
);

export function createClaudeReader(word: string): ClaudeReader {
  const answer = readTextAnswer(word);
  let isOver = false;
  let hasBegun = false;

  const fail = (message: string): readonly LanguageModelV4StreamPart[] => {
    isOver = true;
    return [{ type: "error", error: new Error(message) }];
  };
  const begin = ({ tools, mcp_servers: servers }: ClaudeLine): readonly LanguageModelV4StreamPart[] => {
    hasBegun = tools?.length === 0 && servers?.length === 0;
    return hasBegun ? [] : fail(HAS_TOOLS);
  };
  const follow = ({ type, content_block: block, delta }: Event): readonly LanguageModelV4StreamPart[] => {
    if (
      type === "content_block_start" &&
      block &&
      !["text", "thinking", "redacted_thinking"].includes(block.type)
    ) {
      return fail(USED_TOOL);
    }
    return delta?.type === "text_delta" ? answer.push(delta.text ?? "") : [];
  };
  const finish = ({
    is_error: isError,
    result,
    stop_reason: reason,
    usage,
  }: ClaudeLine): readonly LanguageModelV4StreamPart[] => {
    if (isError) return fail(`\`claude\` says: ${(result ?? "it failed").slice(0, 500)}`);
    isOver = true;
    const raw = reason ?? "end_turn";
    const unified = answer.calls > 0 ? "tool-calls" : raw === "max_tokens" ? "length" : "stop";
    return [...answer.end(), { type: "finish", finishReason: { unified, raw }, usage: countUsage(usage) }];
  };
  return {
    read(text) {
      if (isOver || text.trim() === "") return [];
      const line = fitShape(LINE, parseLine(text));
      if (line === undefined) return []; // Other kinds of lines, and those that later versions add.
      if (line.type === "system" && line.subtype === "init") return begin(line);
      if (line.type === "result") return hasBegun || line.is_error ? finish(line) : fail(HAS_TOOLS);
      if (line.type !== "stream_event" || line.event === undefined) return [];
      return hasBegun ? follow(line.event) : fail(HAS_TOOLS);
    },
    get isOver() {
      return isOver;
    },
    get hasBegun() {
      return hasBegun;
    },
  };
}

const HAS_TOOLS =
  "Your `claude` program did not confirm that its own tools and MCP servers are off, so Metier does not use it: its calls would bypass Metier's policy, sandbox and log. Update it, or choose another model with `metier init --replace`.";
const USED_TOOL =
  "Your `claude` program used one of its own tools although they are off, so Metier stopped it. Choose another model with `metier init --replace`.";

function countUsage(usage: Usage = {}): Extract<LanguageModelV4StreamPart, { type: "finish" }>["usage"] {
  const {
    input_tokens: fresh,
    cache_read_input_tokens: read = 0,
    cache_creation_input_tokens: made = 0,
  } = usage;
  const total = fresh === undefined ? undefined : fresh + read + made;
  return {
    inputTokens: { total, noCache: fresh, cacheRead: read, cacheWrite: made },
    outputTokens: { total: usage.output_tokens, text: usage.output_tokens, reasoning: undefined },
  };
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Skipped like every other kind of line.
  }
}
