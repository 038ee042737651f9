/**
 * A model served by Ollama, through Ollama's own `/api/chat`: its OpenAI endpoint takes no `num_ctx`, and with Ollama's
 * default of a few thousand tokens a skill's instructions are silently cut off. Loaded when such a model is opened.
 */
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { createLineReader } from "@metier/sandbox";
import { gatherAnswer } from "./gather-answer.ts";
import { askOllama } from "./local-servers.ts";
import { recordMessages, systemText } from "./messages.ts";
import { createOllamaReader } from "./ollama-answer.ts";

interface OllamaEndpoint {
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** The largest context to ask for, in tokens; by default 32,768, and never more than the model has. */
  readonly contextTokens?: number | undefined;
}

/** Memory grows with the context, so the smallest that fits is requested. */
const SMALLEST_CONTEXT = 8_192;
const USUAL_CONTEXT = 32_768;
/** English has four or five, code and other scripts three; too low wastes memory, too high would cost an answer. */
const BYTES_PER_TOKEN = 3;
/** Reserved for the answer. */
const ANSWER_TOKENS = 2_048;

export function createOllamaModel({ baseUrl, model, key, contextTokens }: OllamaEndpoint): LanguageModelV4 {
  // Out of habit, many write the address of the OpenAI endpoint.
  const address = baseUrl.replace(/\/(?:v1|api)$/, "");
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  let most: Promise<number> | undefined;
  let context = 0;

  /** A change makes Ollama reload the model: it grows in steps, and never shrinks. */
  const fitContext = async (body: object, signal: AbortSignal | undefined): Promise<number> => {
    most ??= askOllama(address, model, { headers, signal }).then(
      (length = USUAL_CONTEXT) => Math.min(length, contextTokens ?? USUAL_CONTEXT),
      (fault) => {
        most = undefined; // Asked again next time.
        throw fault;
      },
    );
    const limit = await most;
    const wanted = Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN) + ANSWER_TOKENS;
    let size = SMALLEST_CONTEXT;
    while (size < wanted) size *= 2;
    context = Math.min(limit, Math.max(size, context));
    return context;
  };

  const doStream: LanguageModelV4["doStream"] = async (options) => {
    const request = toRequest(model, options);
    const num_ctx = await fitContext(request, options.abortSignal);
    const body = { ...request, options: { ...request.options, num_ctx } };
    const url = `${address}/api/chat`;
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "error",
      ...(options.abortSignal && { signal: options.abortSignal }),
    });
    if (!response.ok || response.body === null) throw await toFault(url, response, num_ctx);
    return { stream: toParts(response.body) };
  };

  return {
    specificationVersion: "v4",
    provider: "ollama",
    modelId: model,
    supportedUrls: {},
    doStream,
    doGenerate: async (options) => gatherAnswer((await doStream(options)).stream),
  };
}

type OllamaMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "tool"; readonly tool_name: string; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly tool_calls?: readonly object[] };

function toRequest(
  model: string,
  options: LanguageModelV4CallOptions,
): { readonly options: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>> {
  const { prompt, tools = [], maxOutputTokens, temperature, topP, topK, seed, stopSequences } = options;
  const given = { num_predict: maxOutputTokens, temperature, top_p: topP, top_k: topK, seed };
  const offered = tools.flatMap((tool) =>
    tool.type === "function" && options.toolChoice?.type !== "none"
      ? [
          {
            type: "function",
            function: { name: tool.name, description: tool.description ?? "", parameters: tool.inputSchema },
          },
        ]
      : [],
  );
  const { responseFormat } = options;
  return {
    model,
    stream: true,
    messages: toMessages(prompt),
    // A conversation that no longer fits must fail, not lose its start.
    truncate: false,
    shift: false,
    ...(offered.length > 0 && { tools: offered }),
    ...(responseFormat?.type === "json" && { format: responseFormat.schema ?? "json" }),
    ...(options.reasoning === "none" && { think: false }),
    options: { ...given, ...(stopSequences && { stop: stopSequences }) },
  };
}

function toMessages(prompt: LanguageModelV4CallOptions["prompt"]): readonly OllamaMessage[] {
  const system = systemText(prompt);
  const said = recordMessages(prompt).flatMap(({ role, parts }): readonly OllamaMessage[] => {
    const content = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const results = parts.flatMap((part) =>
      part.type === "tool-result"
        ? [
            {
              role: "tool",
              tool_name: part.tool,
              content: part.isError ? `Error: ${part.text}` : part.text,
            } as const,
          ]
        : [],
    );
    const calls = parts.flatMap((part) =>
      part.type === "tool-call" ? [{ function: { name: part.tool, arguments: part.input } }] : [],
    );
    if (role === "tool") return results;
    if (role === "user") return [{ role, content }];
    return [{ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) }, ...results];
  });
  return system === undefined ? said : [{ role: "system", content: system }, ...said];
}

const MOST_FAULT_BYTES = 16_384;

async function toFault(url: string, response: Response, context: number): Promise<Error> {
  const { value } = (await response.body?.getReader().read()) ?? {};
  const text = Buffer.from(value?.subarray(0, MOST_FAULT_BYTES) ?? []).toString("utf8");
  const said = readFault(text) ?? `${response.status} ${response.statusText}`;
  const isTooLong = /context (?:length|size|window)/i.test(said);
  const advice = isTooLong
    ? ` Ollama was asked for ${context} tokens of context; raise \`context-tokens\`, or use a model with a larger context.`
    : "";
  return new APICallError({
    message: `${said}${advice}`,
    url,
    requestBodyValues: {},
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
  });
}

function readFault(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === "string" ? error.slice(0, 500) : undefined;
  } catch {
    return undefined; // Not Ollama's own error: the status says it all.
  }
}

const MOST_LINE_BYTES = 4 * 1024 * 1024;
const NEW_LINE = new Uint8Array([10]);

function toParts(body: ReadableStream<Uint8Array>): ReadableStream<LanguageModelV4StreamPart> {
  const chunks = body.getReader();
  const read = createOllamaReader();
  const waiting: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  const feed = createLineReader(
    MOST_LINE_BYTES,
    (line) => void waiting.push(...(line.trim() === "" ? [] : read(line))),
    (bytes) =>
      void waiting.push({ type: "error", error: new Error(`Ollama sent a line of ${bytes} bytes.`) }),
  );
  let isOver = false;
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      while (waiting.length === 0 && !isOver) {
        const { value, done } = await chunks.read();
        feed(value ?? NEW_LINE); // The last line may have no line break.
        isOver = done;
      }
      for (const part of waiting.splice(0)) controller.enqueue(part);
      if (isOver) controller.close();
    },
    cancel: (reason) => chunks.cancel(reason),
  });
}
