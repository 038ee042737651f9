/** A server on loopback in Anthropic's format that keeps every byte it was sent, and answers as each test tells it. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface KeptRequest {
  readonly path: string;
  /** Name and value in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** A whole message, a message that never ends, or a fault. */
export type ProviderAnswer =
  | { readonly events: readonly object[]; readonly hangs?: boolean }
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export interface RecordingProvider {
  readonly url: string;
  readonly requests: readonly KeptRequest[];
}

/** The next answer for each request, the last one again when they are used up. */
export async function startRecordingProvider(
  ...answers: readonly ProviderAnswer[]
): Promise<RecordingProvider> {
  const requests: KeptRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      path: request.url ?? "",
      headers: request.rawHeaders,
      body: Buffer.concat(chunks).toString("utf8"),
    });
    const answer = answers[requests.length - 1] ?? answers.at(-1);
    if (answer !== undefined) send(answer, response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function send(answer: ProviderAnswer, response: ServerResponse): void {
  if ("status" in answer) {
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of answer.events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  if (!answer.hangs) response.end();
}
