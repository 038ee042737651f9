/**
 * The two ways to an MCP server: lines through a process of ours, or requests to its address. Every message is bounded, and
 * nothing is listened for that nobody asked: notifications of the server lead to nothing here.
 */
import { PassThrough } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createLineReader } from "../../sandbox/read-lines.ts";
import { refuse } from "../capability-fault.ts";
import { parseObject } from "./bridge-envelope.ts";
import type { ProgramWords } from "./program-words.ts";
import type { Launch } from "./provider-launch.ts";
import { describeEnd, runProvider } from "./provider-process.ts";
import type { Refused } from "./tidy-fault.ts";

/** With what is known where the server is a process of ours. */
export interface McpTransport extends Transport {
  /** How many messages have come. */
  heard?(): number;
  /** How the process ended, once it has. */
  lastWords?(): Refused | undefined;
}

const END_GRACE_MS = 2000;
/** The longest that a timer takes. */
const LIFETIME_MS = 2 ** 31 - 1;

export interface TransportLimits {
  /** Of one message. */
  readonly maxBytes: number;
}

export function createProcessTransport(
  name: string,
  launch: Launch,
  { maxBytes, words: called }: TransportLimits & { readonly words: ProgramWords },
): McpTransport {
  const requests = new PassThrough();
  const killer = new AbortController();
  let exited: Promise<void> | undefined;
  let heard = 0;
  let words: Refused | undefined;

  const takeLine = (line: string): void => {
    const message = parseObject(line);
    if (typeof message === "string") return; // Servers print to standard output by mistake; whoever waits waits on.
    heard += 1;
    transport.onmessage?.(message as unknown as JSONRPCMessage);
  };
  const readLines = createLineReader(maxBytes, takeLine, () => {
    words = tooLong(name, maxBytes);
    killer.abort();
  });

  const transport: McpTransport = {
    async start() {
      const use = { stdin: requests, timeoutMs: LIFETIME_MS, signal: killer.signal, isBackground: true };
      exited = runProvider(launch, { ...use, onStdout: readLines }).then((ending) => {
        words ??= describeEnd(name, ending, LIFETIME_MS, called);
        transport.onclose?.();
      });
    },
    async send(message) {
      requests.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      requests.end();
      const impatience = setTimeout(() => killer.abort(), END_GRACE_MS);
      await exited;
      clearTimeout(impatience);
    },
    heard: () => heard,
    lastWords: () => words,
  };
  return transport;
}

function tooLong(name: string, maxBytes: number): Refused {
  return refuse(
    "capability_invalid_output",
    `The MCP server \`${name}\` was ended: it sent a message of more than ${maxBytes} bytes.`,
  );
}

/**
 * For a server at an address. A `GET` would only open a stream of what it says unasked, and a redirection is not followed:
 * the user named this server and no other.
 */
export function boundedFetch({ maxBytes }: TransportLimits): typeof fetch {
  return async (url, init) => {
    if (init?.method === "GET") return new Response(null, { status: 405 });
    const response = await fetch(url, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      const target = response.headers.get("location") ?? "nowhere";
      throw new Error(`it redirects to \`${target}\`, which is not followed; set its URL to where it is`);
    }
    if (response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes <= maxBytes) controller.enqueue(chunk);
          else controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}
