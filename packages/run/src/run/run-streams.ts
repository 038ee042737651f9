/**
 * A run that is under way, for whoever watches it from elsewhere: its text, its events as server-sent events, and as the
 * AI SDK's UI messages. Every stream reads the run's one log at its own pace, so that a slow client costs no memory, and a
 * client that leaves ends the run it was for.
 */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import {
  CLIENT_BEGINNING,
  type ClientEvent,
  type ClientLog,
  type ClientPosition,
  type ClientView,
} from "../events/client-event.ts";
import type { RunResult } from "./run-result.ts";
import { createChunkWriter, type RunUIChunk } from "./ui-chunks.ts";

/** What clients see of a run beyond its text and the names of its tools. */
export interface StreamOptions {
  /** Tools whose input and output clients see, by name; of all others they see that they were called. Default: none. */
  readonly showTools?: readonly string[] | undefined;
  /** Words for a run that did not complete, in place of a general sentence: the result's own may name folders and keys. */
  readonly errorText?:
    | ((
        result: RunResult & {
          /** Of a turn of a chat: what the user is told beside the answer. */
          readonly notice?: string;
        },
      ) => string)
    | undefined;
}

/** What a `Response` with a stream takes. */
export interface StreamResponseInit extends StreamOptions {
  /** Default: 200. */
  readonly status?: number | undefined;
  /** The status text of the response. Default: empty. */
  readonly statusText?: string | undefined;
  /** Beside our own, or in place of them. */
  readonly headers?: ResponseInit["headers"] | undefined;
  /**
   * What becomes of the run when its client leaves before the end. `cancel`: it ends, unless another response of it is
   * still open. `continue`: it goes on, and another response can pick it up. Default: `cancel`.
   */
  readonly onDisconnect?: "cancel" | "continue" | undefined;
  /** Of the request: when it is aborted, its client has left. For servers that do not cancel the body. */
  readonly signal?: AbortSignal | undefined;
  /** While nothing happens, a comment is sent this often, so that no proxy ends the connection. Default: 15 000. */
  readonly heartbeatMs?: number | undefined;
}

/** What a `Response` of server-sent events takes. */
export interface EventResponseInit extends StreamResponseInit {
  /** The `Last-Event-ID` of the request: the stream goes on behind it. */
  readonly lastEventId?: string | null | undefined;
}

/** A stream that `for await` reads, too. */
export type TextStream = ReadableStream<string> & AsyncIterable<string>;

/** A run under way as streams, for clients. Each call gives a stream of its own, from the beginning of the run. */
export interface RunStreams {
  /** What the model writes, piece by piece; nothing of the skills it runs. Ends with the run, whatever became of it. */
  readonly textStream: TextStream;
  /** The run as events that clients may see. Leaving it does not end the run. */
  clientEvents(options?: StreamOptions): ReadableStream<ClientEvent> & AsyncIterable<ClientEvent>;
  /**
   * Server-sent events, one `ClientEvent` as JSON in each, with an `id` to go on from. `204` when `lastEventId` is the last
   * one of a run that has ended: an `EventSource` then stops asking.
   */
  toResponse(init?: EventResponseInit): Response;
  /** The chunks of one assistant message, as `useChat` and `readUIMessageStream` of the AI SDK read them. */
  toUIMessageStream(options?: StreamOptions): ReadableStream<RunUIChunk> & AsyncIterable<RunUIChunk>;
  /** The same as a response for `useChat`. */
  toUIMessageStreamResponse(init?: StreamResponseInit): Response;
}

const STREAM_KEYS: OptionKeys<StreamOptions> = { showTools: true, errorText: true };
const RESPONSE_KEYS: OptionKeys<StreamResponseInit> = {
  ...STREAM_KEYS,
  status: true,
  statusText: true,
  headers: true,
  onDisconnect: true,
  signal: true,
  heartbeatMs: true,
};
const EVENT_KEYS: OptionKeys<EventResponseInit> = { ...RESPONSE_KEYS, lastEventId: true };

const HEARTBEAT_MS = 15_000;
const LONGEST_TIMER_MS = 2_147_483_647;

const SSE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  connection: "keep-alive",
  "x-accel-buffering": "no", // A proxy that gathers the answer would keep it from the client.
};

interface StreamedRun {
  readonly log: ClientLog;
  /** Once it has ended. */
  result(): RunResult | undefined;
  cancel(): void;
}

export function openStreams(run: StreamedRun): RunStreams {
  const { log } = run;
  const respond = createResponder(run);
  return {
    get textStream() {
      return readLog(run, CLIENT_BEGINNING, readOptions({}), {
        begin: () => [],
        write: (event) => (event.type === "text-delta" ? [event.text] : []),
      });
    },
    clientEvents(options = {}) {
      checkStream("clientEvents", options, STREAM_KEYS);
      return readLog(run, CLIENT_BEGINNING, readOptions(options), PLAIN_EVENTS);
    },
    toResponse(init = {}) {
      checkStream("toResponse", init, EVENT_KEYS);
      const from = log.find(init.lastEventId);
      const isOver = log.hasEnded && log.read(from, readOptions({}).view(undefined)) === undefined;
      if (isOver) return new Response(null, { status: 204, headers: mergeHeaders({}, init.headers) });
      const write: SseWriter<ClientEvent> = {
        ...PLAIN_EVENTS,
        frame: (event) => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`,
        last: "",
      };
      return respond(init, from, write, SSE_HEADERS);
    },
    toUIMessageStream(options = {}) {
      checkStream("toUIMessageStream", options, STREAM_KEYS);
      return readLog(run, CLIENT_BEGINNING, readOptions(options), createChunkWriter(log.runId));
    },
    toUIMessageStreamResponse(init = {}) {
      checkStream("toUIMessageStreamResponse", init, RESPONSE_KEYS);
      const write: SseWriter<RunUIChunk> = {
        ...createChunkWriter(log.runId),
        frame: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
        last: "data: [DONE]\n\n",
      };
      const headers = { ...SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1" };
      return respond(init, CLIENT_BEGINNING, write, headers);
    },
  };
}

type Respond = <Item>(
  init: StreamResponseInit,
  from: ClientPosition,
  write: SseWriter<Item>,
  headers: Readonly<Record<string, string>>,
) => Response;

/** Responses of one run: when the last client that wanted its end leaves, it ends. */
function createResponder(run: StreamedRun): Respond {
  /** Responses whose clients are still there. */
  let open = 0;
  return (init, from, write, headers) => {
    const { status, statusText, onDisconnect = "cancel", signal } = init;
    open += 1;
    let isOpen = true;
    const leave = (isGone: boolean): void => {
      if (!isOpen) return;
      isOpen = false;
      open -= 1;
      signal?.removeEventListener("abort", onAbort);
      if (isGone && open === 0 && onDisconnect === "cancel" && !run.log.hasEnded) run.cancel();
    };
    const onAbort = (): void => leave(true);
    if (signal?.aborted) leave(true);
    else signal?.addEventListener("abort", onAbort, { once: true });
    const body = encodeSse({ ...readOptions(init), run, from, write, leave, heartbeatMs: init.heartbeatMs });
    const told = { status, statusText, headers: mergeHeaders(headers, init.headers) };
    return new Response(body, presentFields(told));
  };
}

/** What a stream is made of, event by event. */
interface ItemWriter<Item> {
  begin(): readonly Item[];
  write(event: ClientEvent): readonly Item[];
}

interface SseWriter<Item> extends ItemWriter<Item> {
  frame(item: Item): string;
  /** After the last one. */
  readonly last: string;
}

const PLAIN_EVENTS: ItemWriter<ClientEvent> = { begin: () => [], write: (event) => [event] };

interface ReadOptions {
  view(result: RunResult | undefined): ClientView;
}

function readOptions({ showTools = [], errorText }: StreamOptions): ReadOptions {
  const shown = new Set(showTools);
  return {
    view(result) {
      if (errorText === undefined || result === undefined || result.status === "completed") return { shown };
      return { shown, errorText: sayError(errorText, result) };
    },
  };
}

/** The program's own words; when it fails to find any, the general ones stand. */
function sayError(errorText: NonNullable<StreamOptions["errorText"]>, result: RunResult): string | undefined {
  try {
    const text: unknown = errorText(result);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined; // The client still hears that it did not complete.
  }
}

/** Reads the log when the reader has room, and never ahead of it. */
function readLog<Item>(
  run: StreamedRun,
  from: ClientPosition,
  options: ReadOptions,
  writer: ItemWriter<Item>,
): ReadableStream<Item> & AsyncIterable<Item> {
  const next = createLogReader(run, from, options, writer);
  let hasLeft = false;
  const stream = new ReadableStream<Item>(
    {
      async pull(controller) {
        for (;;) {
          const items = next();
          if (items === undefined) return controller.close();
          for (const item of items) controller.enqueue(item);
          if (items.length > 0) return;
          await run.log.changed();
          if (hasLeft) return;
        }
      },
      cancel() {
        hasLeft = true;
      },
    },
    { highWaterMark: 0 },
  );
  return stream as ReadableStream<Item> & AsyncIterable<Item>; // Node's streams are iterable; the type has it since.
}

/** What is there now; an empty list: nothing yet; `undefined`: nothing more. */
function createLogReader<Item>(
  { log, result }: StreamedRun,
  from: ClientPosition,
  { view }: ReadOptions,
  writer: ItemWriter<Item>,
): () => readonly Item[] | undefined {
  let at = from;
  let hasBegun = false;
  return () => {
    const items: Item[] = [];
    if (!hasBegun) items.push(...writer.begin());
    hasBegun = true;
    const hasEnded = log.hasEnded;
    for (let read = log.read(at, view(result())); read; read = log.read(at, view(result()))) {
      at = read.next;
      items.push(...writer.write(read.event));
    }
    return items.length === 0 && hasEnded ? undefined : items;
  };
}

interface SseOptions<Item> extends ReadOptions {
  readonly run: StreamedRun;
  readonly from: ClientPosition;
  readonly write: SseWriter<Item>;
  /** Whether its client left before the end. */
  leave(isGone: boolean): void;
  readonly heartbeatMs?: number | undefined;
}

function encodeSse<Item>(options: SseOptions<Item>): ReadableStream<Uint8Array> {
  const { run, from, write, leave, heartbeatMs = HEARTBEAT_MS } = options;
  const encoder = new TextEncoder();
  const next = createLogReader(run, from, options, write);
  let hasLeft = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(": open\n\n")); // The client knows at once that it is connected.
      },
      async pull(controller) {
        for (;;) {
          const items = next();
          if (items === undefined) {
            if (write.last !== "") controller.enqueue(encoder.encode(write.last));
            leave(false);
            return controller.close();
          }
          if (items.length > 0) return controller.enqueue(encoder.encode(items.map(write.frame).join("")));
          const isLate = await waitFor(run.log.changed(), heartbeatMs);
          if (hasLeft) return;
          if (isLate) return controller.enqueue(encoder.encode(": heartbeat\n\n"));
        }
      },
      cancel() {
        hasLeft = true;
        leave(true);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether the time was up first. */
async function waitFor(change: Promise<void>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(true), milliseconds);
  timer.unref(); // A client that waits keeps no process alive.
  try {
    return await Promise.race([change.then(() => false), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function mergeHeaders(own: Readonly<Record<string, string>>, given: ResponseInit["headers"]): Headers {
  const headers = new Headers(own);
  for (const [name, value] of new Headers(given)) headers.set(name, value);
  return headers;
}

function checkStream(call: string, options: StreamResponseInit, keys: Readonly<Record<string, true>>): void {
  checkKeys(call, options, keys);
  const { showTools, errorText, onDisconnect, heartbeatMs = HEARTBEAT_MS } = options;
  if (showTools !== undefined && !(Array.isArray(showTools) && showTools.every(isText))) {
    throw new UsageError(`\`showTools\` of \`${call}\` must be a list of names of tools.`);
  }
  if (errorText !== undefined && typeof errorText !== "function") {
    throw new UsageError(`\`errorText\` of \`${call}\` must be a function from a result to a text.`);
  }
  if (onDisconnect !== undefined && onDisconnect !== "cancel" && onDisconnect !== "continue") {
    throw new UsageError(`\`onDisconnect\` of \`${call}\` must be "cancel" or "continue".`);
  }
  if (!Number.isFinite(heartbeatMs) || heartbeatMs <= 0 || heartbeatMs > LONGEST_TIMER_MS) {
    throw new UsageError(`\`heartbeatMs\` of \`${call}\` must be a number of milliseconds above 0.`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
