/** A stand-in for Ollama on loopback that speaks its own protocol: `/api/tags`, `/api/show` and `/api/chat`. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface ServedModel {
  readonly name: string;
  readonly context?: number;
  readonly tools?: boolean;
  readonly size?: number;
}

/** The lines of one answer, or a refusal. */
export type OllamaTurn =
  | { readonly text: string; readonly thinking?: string; readonly reason?: string; readonly cut?: true }
  | { readonly calls: readonly { readonly name: string; readonly arguments: object }[] }
  | { readonly status: number; readonly error: string }
  | { readonly hangs: true };

export interface OllamaChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description: string } }[];
  readonly options: Readonly<Record<string, unknown>>;
}

export interface TestOllama {
  readonly url: string;
  /** For `OLLAMA_HOST`. */
  readonly host: string;
  readonly chats: readonly OllamaChatRequest[];
}

/** Runs until the test ends. Turns answer in order; the last one answers whatever else is asked. */
export async function startOllama(
  models: readonly ServedModel[],
  turns: readonly OllamaTurn[] = [{ text: "ready" }],
): Promise<TestOllama> {
  const chats: OllamaChatRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readJson(request);
    const send = (value: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (request.url === "/api/tags") {
      return send({ models: models.map(({ name, size = 5_000_000_000 }) => ({ name, model: name, size })) });
    }
    const known = models.find(({ name }) => name === body?.model);
    if (!known) return send({ error: `model '${body?.model}' not found` }, 404);
    if (request.url === "/api/show") return send(show(known));
    if (request.url !== "/api/chat") return send({ error: "not found" }, 404);
    chats.push(body);
    const turn = turns[Math.min(chats.length, turns.length) - 1] ?? { text: "ready" };
    if ("hangs" in turn) return;
    if ("status" in turn) return send({ error: turn.error }, turn.status);
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    for (const line of linesOf(turn)) response.write(`${JSON.stringify({ model: body.model, ...line })}\n`);
    if ("cut" in turn) setTimeout(() => response.destroy(), 50);
    else response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, chats };
}

function show({ context = 40_960, tools = true }: ServedModel): object {
  return {
    capabilities: ["completion", ...(tools ? ["tools"] : [])],
    model_info: { "general.architecture": "qwen3", "qwen3.context_length": context, "qwen3.vocab": null },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what a client sends is looked at by tests.
async function readJson(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : undefined;
}

function linesOf(turn: Exclude<OllamaTurn, { status: number } | { hangs: true }>): readonly object[] {
  const end = { done: true, prompt_eval_count: 120, eval_count: 7 };
  const message = (more: object): object => ({
    message: { role: "assistant", content: "", ...more },
    done: false,
  });
  if ("calls" in turn) {
    const calls = turn.calls.map((called) => ({ function: called }));
    return [message({ tool_calls: calls }), { ...message({}), ...end, done_reason: "stop" }];
  }
  const pieces = turn.text.match(/[\s\S]{1,5}/gu) ?? [];
  return [
    ...(turn.thinking ? [message({ thinking: turn.thinking })] : []),
    ...pieces.map((content) => message({ content })),
    ...(turn.cut ? [] : [{ ...message({}), ...end, done_reason: turn.reason ?? "stop" }]),
  ];
}
