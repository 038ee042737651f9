/** A bare HTTP server on loopback that answers with given server-sent events: for what `aimock` cannot put on the wire. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface RawRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export interface RawProvider {
  readonly url: string;
  readonly requests: readonly RawRequest[];
}

/** The next of the answers for each request, the last one again when they are used up. Each is a list of events. */
export async function startRawProvider(...answers: readonly (readonly object[])[]): Promise<RawProvider> {
  const requests: RawRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = answers[requests.length - 1] ?? answers.at(-1) ?? [];
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A message in Anthropic's format: the events between its start and its end. */
export function anthropicMessage(stopReason: string, ...blocks: readonly object[]): readonly object[] {
  const usage = { input_tokens: 3, output_tokens: 2 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
  };
  return [
    { type: "message_start", message: { ...message, stop_sequence: null, usage } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

export function anthropicText(text: string): readonly object[] {
  return [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
  ];
}

/** `input` is what stands on the wire, well-formed or not. */
export function anthropicCall(name: string, input: string): readonly object[] {
  return [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name, input: {} },
    },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: input } },
    { type: "content_block_stop", index: 0 },
  ];
}
