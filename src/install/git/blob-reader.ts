/** Takes apart what `git cat-file --batch` writes: a line with id, kind and size, the content, a line end, and so on. */
import { RefusedTree } from "../refused-tree.ts";

/** Each content whole, in the order in which it was asked for. */
export type BlobConsumer = (id: string, content: Buffer) => void;

const HEADER = /^([0-9a-f]+) blob (\d+)$/;
const MAX_HEADER_BYTES = 256;

export interface BlobReader {
  take(chunk: Uint8Array): void;
}

/** Throws for an object that is missing, no file, or larger than `maxBytes`. */
export function createBlobReader(maxBytes: number, consume: BlobConsumer): BlobReader {
  let pending: Buffer[] = [];
  let held = 0;
  /** How many bytes are needed before there is something to do. */
  let needed = 1;
  let blob: { readonly id: string; readonly size: number } | undefined;

  const readHeader = (bytes: Buffer): Buffer | undefined => {
    const end = bytes.indexOf("\n");
    if (end === -1 && bytes.length < MAX_HEADER_BYTES) return undefined;
    const line = bytes.toString("latin1", 0, end === -1 ? MAX_HEADER_BYTES : end);
    const [, id, digits] = HEADER.exec(line) ?? [];
    if (id === undefined)
      throw new RefusedTree("source.damaged", `A file of it is not there: git says \`${line}\`.`);
    const size = Number(digits);
    if (size > maxBytes) {
      throw new RefusedTree("source.limited", `A file of it has ${size} bytes; ${maxBytes} are allowed.`);
    }
    blob = { id, size };
    return bytes.subarray(end + 1);
  };
  const readContent = (bytes: Buffer): Buffer | undefined => {
    if (blob === undefined || bytes.length <= blob.size) return undefined;
    const { id, size } = blob;
    blob = undefined;
    consume(id, bytes.subarray(0, size));
    return bytes.subarray(size + 1);
  };

  return {
    take(chunk) {
      pending.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
      held += chunk.length;
      if (held < needed) return;
      let bytes: Buffer = Buffer.concat(pending);
      for (;;) {
        const rest = blob === undefined ? readHeader(bytes) : readContent(bytes);
        if (rest === undefined) break;
        bytes = rest;
      }
      pending = [bytes];
      held = bytes.length;
      needed = blob === undefined ? held + 1 : blob.size + 1;
    },
  };
}
