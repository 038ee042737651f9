/**
 * Decompresses one object of a pack. For each, Node makes a stream and a hash, which takes longer than the work itself, so C code
 * does it where the build made that (`packages/skills/native/unpack-object.h`).
 */
import { inflateSync } from "node:zlib";
import { nativeCode } from "@metier/base/files";

interface Unpacked {
  readonly content: Buffer;
  /** How many bytes it took, compressed. */
  readonly length: number;
  /** If it is known already. */
  readonly id?: string;
}

/**
 * `bytes` start with the object; `size` is what its head says. `kind`: the number that packs use, or 0 for a delta. `undefined`:
 * there must be more. Throws at a doubt.
 */
export type Unpack = (bytes: Buffer, size: number, kind: number) => Unpacked | undefined;

/** Git reads it. Exported for tests. */
export class UnusualPack extends Error {}

/** What `unpack-object.h` describes. */
interface NativeUnpacker {
  unpackObject?(from: Uint8Array, kind: number, to: Uint8Array): number | undefined;
}

export function openUnpacker(): Unpack {
  const { unpackObject } = (nativeCode() ?? {}) as NativeUnpacker;
  return unpackObject ? unpackWith(unpackObject) : unpackWithNode;
}

const [ID_BYTES, HEADER_BYTES] = [20, 20];

function unpackWith(unpackObject: Required<NativeUnpacker>["unpackObject"]): Unpack {
  return (bytes, size, kind) => {
    const room = Buffer.allocUnsafe(ID_BYTES + HEADER_BYTES + size);
    const length = unpackObject(upTo(bytes, size), kind, room) ?? -1;
    if (length === 0 && bytes.length < mostCompressed(size)) return undefined;
    if (length <= 0) throw new UnusualPack();
    const content = room.subarray(ID_BYTES + HEADER_BYTES);
    return kind === 0 ? { content, length } : { content, length, id: room.toString("hex", 0, ID_BYTES) };
  };
}

/** More than anything of this size takes when it is compressed. */
function mostCompressed(size: number): number {
  return size + Math.ceil(size / 1000) + 64;
}

function upTo(bytes: Buffer, size: number): Buffer {
  return bytes.subarray(0, mostCompressed(size));
}

/** Without C code. Exported for tests. */
export const unpackWithNode: Unpack = (bytes, size) => {
  // With room at the end, zlib sees that nothing follows.
  const room = size + 64;
  try {
    const how = { info: true, chunkSize: room, maxOutputLength: room } as const;
    const { buffer, engine } = inflateSync(upTo(bytes, size), how) as unknown as Inflated;
    if (buffer.length !== size) throw new UnusualPack();
    return { content: buffer, length: engine.bytesWritten };
  } catch (thrown) {
    const isCutOff = (thrown as NodeJS.ErrnoException).code === "Z_BUF_ERROR";
    if (isCutOff && bytes.length < mostCompressed(size)) return undefined;
    throw new UnusualPack();
  }
};

/** What `info` makes of it; the types of Node do not say so. */
interface Inflated {
  readonly buffer: Buffer;
  /** `bytesWritten`: how much was read. */
  readonly engine: { readonly bytesWritten: number };
}
