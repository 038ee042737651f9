/** Gzip without a name, a time or a system in it: the same bytes for the same content. */
import { crc32 } from "node:zlib";
import { deflate } from "./deflate.ts";

/** Deflate, no flags, no time, no word about how it was packed, an unknown system. */
const HEAD: readonly number[] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

export function writeGzip(content: Uint8Array): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(content), 0);
  tail.writeUInt32LE(content.length % 2 ** 32, 4);
  return Buffer.concat([Buffer.from(HEAD), deflate(content), tail]);
}
