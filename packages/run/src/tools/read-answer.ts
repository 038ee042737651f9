/**
 * Turns what a program's tool returns into text for a model: nothing, text, any value, bytes, a stream. Bounded, and
 * ended with the run.
 */
import { sayFault } from "@metier/base/diagnostic";

import { describeBytes, showJson } from "./show-json.ts";
import { answer, fault, type ToolOutput } from "./tool.ts";

/** More than a model can use of one answer; tools that can page do so long before. */
export const MAX_ANSWER = 200_000;
/** Room for the line that says what is missing. */
const NOTE_ROOM = 200;
const MOST_THROWN = 2000;
const MOST = MAX_ANSWER - NOTE_ROOM;
/** A character has at most four bytes in UTF-8. */
const MOST_BYTES = MOST * 4;

/** Rejects only if a stream fails. `tool`: its name, for the answer to nothing. */
export async function readAnswer(tool: string, given: unknown, signal: AbortSignal): Promise<ToolOutput> {
  if (typeof given === "string") return answer(given);
  if (given === undefined) return answer(`\`${tool}\` finished. It returned nothing.`);
  if (typeof given !== "object" || given === null) return answer(plainText(given));
  if (isToolOutput(given)) return { text: given.text, isError: given.isError };
  if (given instanceof Error) return fault(`\`${tool}\` failed: ${sayFault(given)}`);
  if (given instanceof Response) return readResponse(given, signal);
  const stream = toStream(given);
  if (stream !== undefined) return answer(await gather(stream, signal));
  const bytes = toBytes(given);
  if (bytes !== undefined) return answer(readBytes(bytes));
  const { text, isCut } = showJson(given, MOST);
  const shown = isCut ? `${text}\n[cut: the value has more than ${MOST} characters]` : text;
  return (given as { readonly isError?: unknown }).isError === true ? fault(shown) : answer(shown);
}

/** What a tool threw, as its answer: like a language error, even if it is some other value. */
export function readThrown(tool: string, thrown: unknown): ToolOutput {
  const isValue = typeof thrown === "object" && thrown !== null && !(thrown instanceof Error);
  return fault(`\`${tool}\` failed: ${isValue ? showJson(thrown, MOST_THROWN).text : sayFault(thrown)}`);
}

function plainText(given: unknown): string {
  return typeof given === "function" ? `[function ${given.name}]` : String(given);
}

function isToolOutput(given: object): given is ToolOutput {
  const { text, isError } = given as Partial<ToolOutput>;
  return typeof text === "string" && typeof isError === "boolean";
}

/** A `fetch` response: its body, and its status if it reports an error. */
async function readResponse(response: Response, signal: AbortSignal): Promise<ToolOutput> {
  const body = response.body === null ? "" : await gather(response.body, signal);
  if (response.ok) return answer(body);
  return fault(`HTTP ${response.status} ${response.statusText}`.trim() + (body === "" ? "" : `\n${body}`));
}

function toBytes(given: object): Uint8Array | undefined {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (!ArrayBuffer.isView(given)) return undefined;
  // A dense array of numbers is still a list.
  const isNumbers = !(given instanceof Uint8Array || given instanceof DataView);
  return isNumbers ? undefined : new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
}

function toStream(given: object): AsyncIterable<unknown> | undefined {
  if (given instanceof Blob) return given.stream();
  if (Symbol.asyncIterator in given) return given as AsyncIterable<unknown>;
  const { getReader } = given as Partial<ReadableStream<unknown>>;
  return typeof getReader === "function" ? readStream(given as ReadableStream<unknown>) : undefined;
}

/** For streams that can't be iterated. */
async function* readStream(stream: ReadableStream<unknown>): AsyncGenerator<unknown> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    while (!isDone) {
      const next = await reader.read();
      isDone = next.done;
      if (!next.done) yield next.value;
    }
  } finally {
    if (!isDone) reader.cancel().catch(() => undefined); // Nobody waits for the rest anymore.
  }
}

/** Text and bytes as they arrive, every other value as a line of JSON; reads no more than a model can use. */
async function gather(source: AsyncIterable<unknown>, signal: AbortSignal): Promise<string> {
  const iterator = source[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let end: "ended" | "full" | "stopped" | "failed" = "failed";
  try {
    while (end === "failed") {
      const next = await nextUntil(iterator, signal);
      if (next === undefined) end = "stopped";
      else if (next.done) end = "ended";
      else {
        const piece = toPiece(next.value);
        pieces.push(piece);
        size += piece.byteLength;
        if (size > MOST_BYTES) end = "full";
      }
    }
  } finally {
    // Told to end, not waited for: it may never answer.
    if (end === "full" || end === "stopped") void endIterator(iterator);
  }
  const text = readBytes(Buffer.concat(pieces), end !== "ended");
  if (end === "full") return `${text.slice(0, MOST)}\n[cut: the rest of the stream was not read]`;
  return end === "stopped" ? `${text}\n[the run was stopped before the stream ended]` : text;
}

/** `undefined` once the signal is aborted. */
function nextUntil(
  iterator: AsyncIterator<unknown>,
  signal: AbortSignal,
): Promise<IteratorResult<unknown> | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const unlisten = (): void => signal.removeEventListener("abort", stop);
    iterator.next().then(resolve, reject).finally(unlisten);
  });
}

async function endIterator(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Its answer was used; errors at its end don't matter here.
  }
}

function toPiece(value: unknown): Uint8Array {
  if (typeof value === "string") return Buffer.from(value.slice(0, MOST_BYTES));
  const bytes = typeof value === "object" && value !== null ? toBytes(value) : undefined;
  return bytes ?? Buffer.from(`${showJson(value, MOST).text}\n`);
}

/** As text if it is UTF-8; otherwise only its size. */
function readBytes(bytes: Uint8Array, isPart = false): string {
  const most = bytes.subarray(0, MOST_BYTES);
  const isCut = isPart || most.byteLength < bytes.byteLength;
  try {
    // The last character of cut bytes may be cut too.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(most, { stream: isCut });
    if (text.includes("\0")) return describeBytes(bytes.byteLength);
    return text.length > MOST ? `${text.slice(0, MOST)}\n[cut: ${bytes.byteLength} bytes in all]` : text;
  } catch {
    return describeBytes(bytes.byteLength);
  }
}
