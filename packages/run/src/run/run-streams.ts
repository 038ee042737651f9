/**
 * A run in progress as streams for clients: its text, its events as server-sent events, and the AI SDK's UI messages.
 * Every stream reads the run's one log at its own pace, so a slow client costs no memory, and a client that leaves ends
 * the run it was for.
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

/** What clients see of a run besides its text and tool names. */
export interface StreamOptions {
  /**
   * Tools whose input and output clients see, by name; of others, they only see that they were called. Default: none.
   */
  readonly showTools?: readonly string[] | undefined;
  /**
   * The message for a run that didn't complete, instead of a general sentence: the result's own may name folders and
   * keys.
   */
  readonly errorText?:
    | ((
        result: RunResult & {
          /** For a chat turn: what the user is told besides the answer. */
          readonly notice?: string;
        },
      ) => string)
    | undefined;
}

/** Options of a streaming `Response`. */
export interface StreamResponseInit extends StreamOptions {
  /** Default: 200. */
  readonly status?: number | undefined;
  /** The status text of the response. Default: empty. */
  readonly statusText?: string | undefined;
  /** Added to our own, or replacing them. */
  readonly headers?: ResponseInit["headers"] | undefined;
  /**
   * What happens to the run if its client leaves before the end. `cancel`: it ends, unless another response of it is
   * still open. `continue`: it goes on, and another response can pick it up. Default: `cancel`.
   */
  readonly onDisconnect?: "cancel" | "continue" | undefined;
  /** The request's signal: if aborted, its client has left. For servers that don't cancel the body. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How often to send a comment while nothing happens, in milliseconds, so that no proxy closes the connection.
   * Default: 15 000.
   */
  readonly heartbeatMs?: number | undefined;
}

/** Options of a `Response` with server-sent events. */
export interface EventResponseInit extends StreamResponseInit {
  /** The request's `Last-Event-ID`: the stream continues after it. */
  readonly lastEventId?: string | null | undefined;
}

/** A stream that `for await` can read too. */
export type TextStream = ReadableStream<string> & AsyncIterable<string>;

/** A run in progress as streams for clients. Each call returns a new stream from the start of the run. */
export interface RunStreams {
  /** The model's text, piece by piece; nothing from skills it runs. Ends with the run, whatever the outcome. */
  readonly textStream: TextStream;
  /** The run as events that clients may see. Leaving it doesn't end the run. */
  clientEvents(options?: StreamOptions): ReadableStream<ClientEvent> & AsyncIterable<ClientEvent>;
  /**
   * Server-sent events, each with one `ClientEvent` as JSON and an `id` to continue from. `204` if `lastEventId` is the
   * last one of a run that has ended: an `EventSource` then stops asking.
   */
  toResponse(init?: EventResponseInit): Response;
  /** The chunks of one assistant message, as the AI SDK's `useChat` and `readUIMessageStream` read them. */
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
  "x-accel-buffering": "no", // A proxy that buffers the answer would keep it from the client.
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

/** Responses of one run: it ends when the last client that wanted its end leaves. */
function createResponder(run: StreamedRun): Respond {
  /** Responses whose clients are still connected. */
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

/** What a stream consists of, event by event. */
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

/** The program's own message; if it fails, the general one is used. */
function sayError(errorText: NonNullable<StreamOptions["errorText"]>, result: RunResult): string | undefined {
  try {
    const text: unknown = errorText(result);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined; // The client is still told that it didn't complete.
  }
}

/** Reads the log when the reader has room, and never ahead. */
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
  return stream as ReadableStream<Item> & AsyncIterable<Item>; // Node's streams are iterable, but the type doesn't say so.
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
        controller.enqueue(encoder.encode(": open\n\n")); // The client knows immediately that it is connected.
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
  timer.unref(); // A waiting client keeps no process alive.
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
    throw new UsageError(`\`showTools\` of \`${call}\` must be a list of tool names.`);
  }
  if (errorText !== undefined && typeof errorText !== "function") {
    throw new UsageError(
      `\`errorText\` of \`${call}\` must be a function that turns a result into a string.`,
    );
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
