/** The records of a PAX header, `17 path=long-name\n`: only those that change what an entry is. */
import { RefusedTree } from "../refused-tree.ts";
import { decodeName } from "./decode-name.ts";

export interface PaxRecords {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

const RECORD_LENGTH = /^([1-9]\d{0,8}) $/;
const MAX_LENGTH_DIGITS = 10;

export function readPaxRecords(bytes: Buffer): PaxRecords {
  const records: { path?: string; linkpath?: string; size?: number } = {};
  for (let start = 0; start < bytes.length; ) {
    const { key, value, end } = readRecord(bytes, start);
    if (key.startsWith("GNU.sparse."))
      throw new RefusedTree("source.unsafe", "It holds a sparse file, which is not unpacked.");
    if (key === "path" || key === "linkpath") records[key] = decodeName(value);
    if (key === "size") records.size = readSize(value.toString("latin1"));
    start = end;
  }
  return records;
}

function readRecord(
  bytes: Buffer,
  start: number,
): { readonly key: string; readonly value: Buffer; readonly end: number } {
  const blank = bytes.indexOf(0x20, start);
  const head = bytes.toString("latin1", start, Math.min(blank + 1, start + MAX_LENGTH_DIGITS + 1));
  const end = start + Number(RECORD_LENGTH.exec(head)?.[1]);
  const equals = bytes.indexOf(0x3d, blank);
  // The length, which counts itself, must end at a line end behind a `=`.
  if (!(end <= bytes.length && equals > blank && equals < end && bytes[end - 1] === 0x0a)) {
    throw new RefusedTree("source.damaged", "A PAX header of the tar archive cannot be read.");
  }
  const key = bytes.toString("latin1", blank + 1, equals);
  return { key, value: bytes.subarray(equals + 1, end - 1), end };
}

function readSize(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new RefusedTree("source.damaged", "A PAX header of the tar archive has a size that is none.");
  return Number(text);
}
