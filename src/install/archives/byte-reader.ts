/** A stream of bytes, read in exact lengths. */
import { RefusedTree } from "../refused-tree.ts";

export interface ByteReader {
  /** Exactly `length` bytes; `undefined` when the stream ended right here. */
  takeOrEnd(length: number): Promise<Buffer | undefined>;
  /** Exactly `length` bytes. */
  take(length: number): Promise<Buffer>;
  /** Exactly `length` bytes, as they come. */
  pass(length: number): AsyncGenerator<Buffer, void>;
  /** All that is left, as it comes. */
  rest(): AsyncGenerator<Buffer, void>;
}

export function createByteReader(source: AsyncIterable<Buffer>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  /** At most `length` bytes; none at the end of the stream. */
  const next = async (length: number): Promise<Buffer> => {
    while (held.length === 0) {
      const step = await iterator.next();
      if (step.done) return held;
      held = step.value;
    }
    const taken = held.subarray(0, length);
    held = held.subarray(taken.length);
    return taken;
  };
  async function* pass(length: number): AsyncGenerator<Buffer, void> {
    for (let left = length; left > 0; ) {
      const chunk = await next(left);
      if (chunk.length === 0)
        throw new RefusedTree("source.damaged", "It is cut off: it ends in the middle of an entry.");
      left -= chunk.length;
      yield chunk;
    }
  }
  const take = async (length: number): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of pass(length)) chunks.push(chunk);
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  };
  return {
    take,
    pass,
    async takeOrEnd(length) {
      const first = await next(length);
      if (first.length === 0) return undefined;
      return first.length === length ? first : Buffer.concat([first, await take(length - first.length)]);
    },
    async *rest() {
      for (let chunk = await next(65_536); chunk.length > 0; chunk = await next(65_536)) yield chunk;
    },
  };
}
