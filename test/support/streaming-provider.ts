/** A chat completions server on loopback that streams what a function says, piece by piece, and may never end. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface StreamedAnswer {
  readonly pieces: readonly string[];
  /** A call instead of the end: its name and input. */
  readonly call?: StreamedCall;
  /** Several of them. */
  readonly calls?: readonly StreamedCall[];
  /** The answer stays open. */
  readonly hangs?: boolean;
}

interface StreamedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
}

export interface StreamingProvider {
  /** The table of the default model, for a config. */
  readonly toml: string;
  readonly port: number;
  /** Bodies of all requests, as text. */
  readonly requests: readonly string[];
  /** What they authorized themselves with. */
  readonly keys: readonly (string | undefined)[];
}

export async function startStreaming(answer: (body: string) => StreamedAnswer): Promise<StreamingProvider> {
  const requests: string[] = [];
  const keys: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    requests.push(body);
    keys.push(request.headers.authorization);
    const { pieces, call, calls = call ? [call] : [], hangs } = answer(body);
    const number = requests.length;
    const send = (delta: object, finish: string | null = null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      send({ content: piece });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const [index, { tool, input }] of calls.entries()) {
      const made = { name: tool, arguments: JSON.stringify(input) };
      const id = `call${number}${index === 0 ? "" : `-${index}`}`;
      send({ tool_calls: [{ index, id, type: "function", function: made }] });
    }
    if (hangs) return;
    send({}, calls.length > 0 ? "tool_calls" : "stop");
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const toml = `[models.default]\nprovider = "openai-compatible"\nmodel = "m"\nbase-url = "http://127.0.0.1:${port}/v1"\n`;
  return { toml, port, requests, keys };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}
