/** Reads packs for tests: whole or in pieces, in each way to decompress that there is here. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { createPackReader, type PackObject } from "../../../src/install/git/pack-reader.ts";
import {
  openUnpacker,
  type Unpack,
  UnusualPack,
  unpackWithNode,
} from "../../../src/install/git/unpack-object.ts";

/** How many of the bytes that are left come next. */
export type Cut = (left: number) => number;
export const ALL: Cut = (left) => left;

interface ReadPack {
  readonly found: readonly PackObject[];
  count(): number;
}

/** The second is C code, where the build made it. */
const UNPACKERS = [...new Set([unpackWithNode, openUnpacker()])];

if (UNPACKERS.length < 2 && process.env.METIER_REQUIRE_NATIVE === "1")
  throw new Error("C code that decompresses is required: run `npm run build` with a C compiler.");

/** In both ways, which find the same. */
export function readPack(pack: Buffer, cut?: Cut, maxObjects?: number): ReadPack {
  const [read, ...others] = UNPACKERS.map((unpack) => readWith(unpack, pack, cut, maxObjects));
  for (const other of others) {
    expect(other.count()).toBe(read?.count());
    expect(other.found.map(({ kind, id }) => [kind, id])).toEqual(
      read?.found.map(({ kind, id }) => [kind, id]),
    );
  }
  return read ?? { found: [], count: () => 0 };
}

/** Reads it in pieces, until it is done or there is a doubt. Every object is its id's, and found again. */
function readWith(unpack: Unpack, pack: Buffer, cut: Cut = ALL, maxObjects = 10_000): ReadPack {
  const found: PackObject[] = [];
  const reader = createPackReader(maxObjects, (object) => void found.push(object), unpack);
  const read = (): void => {
    for (let at = 0; at < pack.length; ) {
      const length = Math.max(1, cut(pack.length - at));
      // The reader's caller uses its buffer again.
      const piece = Buffer.from(pack.subarray(at, at + length));
      reader.read(piece);
      piece.fill(0xaa);
      at += length;
    }
    reader.read(Buffer.alloc(0), true);
  };
  try {
    read();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UnusualPack);
  }
  for (const { kind, id, content } of found) {
    expect(digestOf(kind, content)).toBe(id);
    expect(reader.find(kind, id)?.equals(content)).toBe(true);
  }
  return { found, count: reader.count };
}

export function digestOf(kind: string, content: Buffer): string {
  return createHash("sha1").update(`${kind} ${content.length}\0`).update(content).digest("hex");
}
