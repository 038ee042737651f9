/** An answer that goes on for as long as somebody listens: it counts as an open stream of its key, and ends with the key. */
import { done, type Result } from "@metier/base/result";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import { type HttpRefusal, refuse } from "./refusal.ts";

/** What a stream lives by. */
interface StreamLife {
  /** The client has gone, or the service stops. */
  readonly signal: AbortSignal;
  /** Whether the key that it was opened with still acts. */
  mayGoOn(): Promise<boolean>;
  /** To be called when it has ended. */
  onEnd(): void;
}

export async function answerStream(
  context: ServiceContext,
  identity: Identity,
  signal: AbortSignal,
  open: (life: StreamLife) => Promise<ReadableStream<Uint8Array>>,
): Promise<Result<Response, HttpRefusal>> {
  const close = context.streams.add(identity.keyId);
  if (close === undefined) {
    const most = context.limits.streamsPerKey;
    const message = `This key has ${most} event streams open, which is the limit.`;
    const hint = "Close a stream, or use another key.";
    return refuse(429, "too_many_streams", message, hint, { "Retry-After": "5" });
  }
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
