/**
 * One header block of a tar archive (POSIX ustar or GNU), strictly: what is not plainly one of the known forms is
 * refused, since another program would read another tree from it.
 */
import { RefusedTree } from "../refused-tree.ts";
import { decodeName } from "./decode-name.ts";

export const BLOCK = 512;

export interface TarHeader {
  /** As it stands in the header: long names come in entries of their own. */
  readonly name: string;
  readonly linkName: string;
  readonly size: number;
  readonly executable: boolean;
  /** Permission bits. */
  readonly mode: number;
  /** The type letter; `0` for the old form that has none. */
  readonly type: string;
}

export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

export function readTarHeader(block: Buffer): TarHeader {
  const magic = block.toString("latin1", 257, 265);
  const isPosix = magic.startsWith("ustar\0");
  if ((!isPosix && magic !== "ustar  \0") || readOctal(block, 148, 8) !== sumOf(block)) {
    throw new RefusedTree(
      "source.damaged",
      "It is no tar archive, or a damaged one: a header has the wrong checksum or form.",
    );
  }
  const name = readText(block, 0, 100);
  const prefix = isPosix ? readText(block, 345, 155) : "";
  const type = String.fromCharCode(block[156] ?? 0);
  const mode = readOctal(block, 100, 8);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    linkName: readText(block, 157, 100),
    size: readOctal(block, 124, 12),
    executable: (mode & 0o111) !== 0,
    mode,
    type: type === "\0" ? "0" : type,
  };
}

/** The sum of all bytes, with the checksum's own place as blanks. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum;
}

/** Up to the first NUL, or the whole field. */
function readText(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return decodeName(end === -1 ? field : field.subarray(0, end));
}

/** Larger numbers, in GNU's base 256, are those of archives that are far too large. */
function readOctal(block: Buffer, start: number, length: number): number {
  const text = block.toString("latin1", start, start + length);
  const [, digits] = /^ *([0-7]*)[ \0]*$/.exec(text) ?? [];
  if (digits === undefined)
    throw new RefusedTree("source.damaged", "A header of the tar archive has a number that is none.");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}
