/** `bridge-v1` as it was meant first: one process for each call, which reads one request, writes one answer and ends. */
import type { JsonObject } from "../capability.ts";
import type { Answer } from "../capability-fault.ts";
import {
  type BridgeRequest,
  MAX_ENVELOPE_BYTES,
  readResponse,
  violation,
  writeRequest,
} from "./bridge-envelope.ts";
import { type BridgeExchange, type ExchangeParts, providerClosed } from "./bridge-exchange.ts";
import type { Launch } from "./provider-launch.ts";
import { describeEnd, runProvider } from "./provider-process.ts";

interface Question {
  readonly id: string;
  readonly text: string;
  readonly stop: AbortSignal;
}

export function createProcessPerCall({ name, timeoutMs, launch }: ExchangeParts): BridgeExchange {
  const closing = new AbortController();
  const pending = new Set<Promise<Answer<JsonObject>>>();

  async function ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>> {
    const text = writeRequest(request);
    if (!text.ok) return text;
    const launched = await launch();
    if (!launched.ok) return launched;
    const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
    return askProcess(launched.value, { id: request.id, text: text.value, stop });
  }

  async function askProcess(started: Launch, { id, text, stop }: Question): Promise<Answer<JsonObject>> {
    const flood = new AbortController();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const ending = await runProvider(started, {
      stdin: text,
      timeoutMs,
      signal: AbortSignal.any([stop, flood.signal]),
      onStdout(chunk) {
        bytes += chunk.length;
        if (bytes > MAX_ENVELOPE_BYTES) flood.abort();
        else chunks.push(chunk);
      },
    });
    if (flood.signal.aborted) return violation(`it has more than ${MAX_ENVELOPE_BYTES} bytes`);
    if (ending.ended !== "exited" || ending.exitCode !== 0) return describeEnd(name, ending, timeoutMs);
    const answer = decode(Buffer.concat(chunks));
    return answer === undefined ? violation("it is not UTF-8") : readResponse(answer, id);
  }

  return {
    ask(request, signal) {
      if (closing.signal.aborted) return Promise.resolve(providerClosed(name));
      const asked = ask(request, signal);
      const settled = asked.finally(() => pending.delete(settled));
      pending.add(settled);
      return settled;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(pending);
    },
  };
}

/** `undefined` where it is not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Whoever asked is told so.
  }
}
