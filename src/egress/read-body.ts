/** The body of an answer, bounded before and after it is unpacked: a small answer may unpack to an endless one. */
import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliDecompress, createGunzip } from "node:zlib";
import { type EgressFault, refuseEgress } from "./egress-fault.ts";

export type BodyOutcome =
  /** `isCut`: the body is longer, and its rest was not taken. */
  { readonly ok: true; readonly bytes: Buffer; readonly isCut: boolean } | EgressFault;

type Unpack = () => Transform;

/** Answers that end too early are given as far as they go. */
const unpackGzip: Unpack = () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
const unpackBrotli: Unpack = () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
const UNPACK: ReadonlyMap<string, Unpack> = new Map([
  ["gzip", unpackGzip],
  ["x-gzip", unpackGzip],
  ["br", unpackBrotli],
]);

class Overflow extends Error {}

export interface BodyOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whatever it is packed as, it stays so. */
  readonly raw: boolean;
  /** How many bytes have come, unpacked. */
  onChunk(done: number): void;
}

/** Rejects when the connection fails or `signal` ends it. */
export async function readBody(
  response: IncomingMessage,
  { maxBytes, signal, raw, onChunk }: BodyOptions,
): Promise<BodyOutcome> {
  const stated = raw ? undefined : response.headers["content-encoding"];
  const encoding = (stated ?? "identity").trim().toLowerCase();
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined && encoding !== "identity" && encoding !== "") {
    response.destroy();
    const message = `The answer is packed as \`${encoding.slice(0, 40)}\`; only \`gzip\` and \`br\` are unpacked.`;
    return refuseEgress("media-type", message);
  }
  const plain = collect(maxBytes, onChunk);
  try {
    if (unpack === undefined) await pipeline(response, plain.take, { signal });
    else await pipeline(response, refuseMore(maxBytes), unpack(), plain.take, { signal });
  } catch (fault) {
    if (!(fault instanceof Overflow)) throw fault;
    if (!plain.isFull()) {
      return refuseEgress("too-large", `The packed answer has more than ${maxBytes} bytes.`);
    }
  }
  return { ok: true, bytes: plain.bytes(), isCut: plain.isFull() };
}

function refuseMore(maxBytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > maxBytes ? new Overflow() : null, chunk);
    },
  });
}

interface Collector {
  take(source: AsyncIterable<Buffer>): Promise<void>;
  isFull(): boolean;
  bytes(): Buffer;
}

/** Keeps the first `maxBytes` and ends the stream behind them. */
function collect(maxBytes: number, onChunk: (done: number) => void): Collector {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    async take(source: AsyncIterable<Buffer>): Promise<void> {
      for await (const chunk of source) {
        chunks.push(chunk);
        size += chunk.length;
        onChunk(size);
        if (size > maxBytes) throw new Overflow();
      }
    },
    isFull: () => size > maxBytes,
    bytes: () => Buffer.concat(chunks).subarray(0, maxBytes),
  };
}
