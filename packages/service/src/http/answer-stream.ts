/** A response that lasts as long as someone listens: it counts as an open stream of its key, and ends with the key. */
import { done, type Result } from "@metier/base/result";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import { type HttpRefusal, refuse } from "./refusal.ts";

/** What a stream depends on. */
interface StreamLife {
  /** The client has disconnected, or the service is stopping. */
  readonly signal: AbortSignal;
  /** Whether the key it was opened with is still valid. */
  mayGoOn(): Promise<boolean>;
  /** Called when it has ended. */
  onEnd(): void;
}

/** Counts a request that stays open; gives what ends it. */
export function takeStream(
  { streams, limits }: ServiceContext,
  { keyId }: Identity,
): Result<() => void, HttpRefusal> {
  const close = streams.add(keyId);
  if (close !== undefined) return done(close);
  const message = `This key already has ${limits.streamsPerKey} event streams open, which is the limit.`;
  const hint = "Close a stream, or use another key.";
  return refuse(429, "too_many_streams", message, hint, { "Retry-After": "5" });
}

/**
 * For a request that starts something and then stays open: asked first, since clients repeat what was refused with a 429, and
 * each time something would have started.
 */
export function checkStreamRoom(context: ServiceContext, identity: Identity): Result<undefined, HttpRefusal> {
  const taken = takeStream(context, identity);
  if (!taken.ok) return taken;
  taken.value();
  return done(undefined);
}

export async function answerStream(
  context: ServiceContext,
  identity: Identity,
  signal: AbortSignal,
  open: (life: StreamLife) => Promise<ReadableStream<Uint8Array>>,
): Promise<Result<Response, HttpRefusal>> {
  const taken = takeStream(context, identity);
  if (!taken.ok) return taken;
  const close = taken.value;
  try {
    const stream = await open({
      signal: AbortSignal.any([signal, context.stopping]),
      mayGoOn: () => context.keys.stillActs(identity, context.now()),
      onEnd: close,
    });
    signal.addEventListener("abort", close, { once: true });
    const type = "text/event-stream; charset=utf-8";
    return done(new Response(stream, { headers: { "Content-Type": type, "X-Accel-Buffering": "no" } }));
  } catch (fault) {
    close();
    throw fault;
  }
}
