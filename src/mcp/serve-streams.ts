/** MCP over two streams, one message a line: what a client does with a program that it starts. */
import { finished, type Readable, type Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Serving } from "./serving.ts";

export interface StreamsInputs {
  readonly serving: Serving;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Until the client ends its side, or the signal does. */
export async function serveStreams({ serving, input, output, signal }: StreamsInputs): Promise<void> {
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => serving.open(), { transport, onerror: serving.onError });
  await untilEnded(input, signal);
  await handle.close();
}

function untilEnded(input: Readable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = finished(input, { writable: false }, () => resolve()); // A stream that broke has ended, too.
    signal.addEventListener("abort", () => {
      stop();
      resolve();
    });
    if (signal.aborted) resolve();
  });
}
