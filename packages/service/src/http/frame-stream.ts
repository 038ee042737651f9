/**
 * Server-sent events as a pull stream: a slow reader holds only the next frames in memory. The first frame goes out
 * immediately, so that the client gets the headers, however quiet the rest is.
 */
import { AsyncResource } from "node:async_hooks";

const FIRST = "retry: 1000\n: connected\n\n";

interface FrameSource {
  /** Whole frames; `undefined`: there are no more. */
  next(): Promise<string | undefined>;
  /** The client has disconnected, or nothing more comes. */
  end(): void;
  onFault(fault: unknown): void;
}

export function streamFrames({ next, end, onFault }: FrameSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Reading the stream isn't part of a request: it is read for the tenant it was opened for.
  const nextForTenant = AsyncResource.bind(next);
  let isFirst = true;
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const text = isFirst ? FIRST : await nextForTenant();
          isFirst = false;
          if (isOver) return; // Nobody is listening anymore.
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
          end();
          controller.close();
        } catch (fault) {
          if (isOver) return;
          onFault(fault);
          end();
          controller.error(fault); // The connection breaks, and the client reconnects with its last position.
        }
      },
      cancel() {
        isOver = true;
        end();
      },
    },
    { highWaterMark: 0 },
  );
}
