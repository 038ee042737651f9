/** Gzip as a stream that ends where it must: bounded by what may come out of it, and by what may come out of so little. */
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { RefusedTree } from "../refused-tree.ts";

/** Skills are text, which packs to a tenth; what packs to less than a two-hundredth is made to fill disks. */
const MAX_RATIO = 200;
/** Below this no ratio matters. */
const SMALL: number = 4 * 1024 * 1024;

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export async function* unpackGzip(bytes: Buffer, maxBytes: number): AsyncGenerator<Buffer, void> {
  const gunzip = Readable.from([bytes]).pipe(createGunzip());
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      checkRatio(size, bytes.length);
      if (size > maxBytes)
        throw new RefusedTree("source.limited", `It unpacks to more than ${maxBytes} bytes.`);
      yield chunk;
    }
  } catch (fault) {
    if (fault instanceof RefusedTree) throw fault;
    throw new RefusedTree(
      "source.damaged",
      `The gzip data is damaged or cut off: ${(fault as Error).message}.`,
    );
  }
  if (gunzip.bytesWritten < bytes.length) {
    throw new RefusedTree("source.unsafe", "There is more data behind the end of the gzip data.");
  }
}

export function checkRatio(unpacked: number, packed: number): void {
  if (unpacked <= SMALL || unpacked <= packed * MAX_RATIO) return;
  throw new RefusedTree(
    "source.limited",
    `It unpacks to more than ${MAX_RATIO} times its ${packed} bytes, as nothing does that is meant to be read.`,
  );
}
