/**
 * Server-sent events as a stream that is asked for its next frames: whoever reads slowly holds no more than these in memory.
 * Its first frame goes out at once, so that the client has the headers, however quiet the rest is.
 */
import { AsyncResource } from "node:async_hooks";

const FIRST = "retry: 1000\n: connected\n\n";

interface FrameSource {
  /** Whole frames; `undefined`: there are no more. */
  next(): Promise<string | undefined>;
  /** The client has gone, or nothing more comes. */
  end(): void;
  onFault(fault: unknown): void;
}

export function streamFrames({ next, end, onFault }: FrameSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Whoever reads the stream is nobody's request: it is read for the tenant for whom it was opened.
  const nextForTenant = AsyncResource.bind(next);
  let isFirst = true;
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const text = isFirst ? FIRST : await nextForTenant();
          isFirst = false;
          if (isOver) return; // Nobody listens any more.
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
          end();
          controller.close();
        } catch (fault) {
          if (isOver) return;
          onFault(fault);
          end();
          controller.error(fault); // The connection breaks, and the client comes again with what it has seen.
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
