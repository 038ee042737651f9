/** What the archive readers share: entries, exact byte counts, bounded gzip, and names. Throws `RefusedTree`. */
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { damaged, limited, RefusedTree, unsafe } from "../install-fault.ts";

/** One entry of an archive, before its target path is checked. */
export type ArchiveEntry =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly size: number;
      readonly executable: boolean;
      /** Permission bits. */
      readonly mode: number;
      /** Read it before asking for the next entry. */
      readonly content: AsyncIterable<Uint8Array>;
    };

/** A byte stream, read in exact lengths. */
export interface ByteReader {
  /** Exactly `length` bytes; `undefined` if the stream ended right here. */
  takeOrEnd(length: number): Promise<Buffer | undefined>;
  /** Exactly `length` bytes. */
  take(length: number): Promise<Buffer>;
  /** Exactly `length` bytes, as they arrive. */
  pass(length: number): AsyncGenerator<Buffer, void>;
  /** Everything left, as it arrives. */
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
      if (chunk.length === 0) throw damaged("It is truncated: it ends in the middle of an entry.");
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

/** Skills are text, which compresses to a tenth; less than a two-hundredth is meant to fill disks. */
const MAX_RATIO = 200;
/** Below this size the ratio does not matter. */
const SMALL: number = 4 * 1024 * 1024;

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** A stream that must end at the right place, with bounded output, absolute and relative to its input. */
export async function* unpackGzip(bytes: Buffer, maxBytes: number): AsyncGenerator<Buffer, void> {
  const gunzip = Readable.from([bytes]).pipe(createGunzip());
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      checkRatio(size, bytes.length);
      if (size > maxBytes) throw limited(`It unpacks to more than ${maxBytes} bytes.`);
      yield chunk;
    }
  } catch (fault) {
    if (fault instanceof RefusedTree) throw fault;
    throw damaged(`The gzip data is damaged or truncated: ${(fault as Error).message}.`);
  }
  if (gunzip.bytesWritten < bytes.length) throw unsafe("There is extra data after the end of the gzip data.");
}

export function checkRatio(unpacked: number, packed: number): void {
  if (unpacked <= SMALL || unpacked <= packed * MAX_RATIO) return;
  throw limited(`It unpacks to more than ${MAX_RATIO} times its ${packed} bytes, like a decompression bomb.`);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Names in archives are bytes. Only UTF-8 is accepted: any guess would be another file's name elsewhere. */
export function decodeName(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    const shown = Buffer.from(bytes.subarray(0, 60)).toString("latin1");
    const plain = shown.replace(/[^ -~]/g, (character) => {
      return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
    });
    throw unsafe(`The name \`${plain}\` is not UTF-8.`);
  }
}
