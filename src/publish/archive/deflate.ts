/**
 * Deflate (RFC 1951) with a fixed code and a fixed search. The zlib of Node packs differently from one version and one
 * kind of processor to the next; a digest that is published needs the same bytes everywhere, and skills are small.
 */
import { createBitWriter } from "./bit-writer.ts";

const WINDOW = 32_768;
const SHORTEST = 3;
const LONGEST = 258;
/** How many earlier places are tried for each position. */
const MOST_TRIES = 48;
const HASH_BITS = 15;
const MOST_STORED = 65_535;

/** Where each code begins, and how many bits follow it. */
const LENGTHS: readonly number[] = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const DISTANCES: readonly number[] = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12_289, 16_385, 24_577,
];

export function deflate(data: Uint8Array): Buffer {
  const packed = packFixed(data);
  const stored = storedLength(data.length);
  return packed.length < stored ? packed : store(data);
}

function packFixed(data: Uint8Array): Buffer {
  const bits = createBitWriter();
  bits.write(1, 1); // the last block
  bits.write(1, 2); // the fixed code
  const heads = new Int32Array(1 << HASH_BITS).fill(-1);
  const earlier = new Int32Array(WINDOW);
  const remember = (at: number): void => {
    if (at + SHORTEST > data.length) return;
    const hash = hashAt(data, at);
    earlier[at % WINDOW] = heads[hash] ?? -1;
    heads[hash] = at;
  };
  for (let at = 0; at < data.length; ) {
    const match = findMatch(data, at, heads, earlier);
    const length = match?.length ?? 1;
    if (match === undefined) writeLiteral(bits, data[at] ?? 0);
    else writeMatch(bits, match);
    for (const end = at + length; at < end; at++) remember(at);
  }
  writeLiteral(bits, 256);
  return bits.finish();
}

type Bits = ReturnType<typeof createBitWriter>;

interface Match {
  readonly length: number;
  readonly distance: number;
}

function hashAt(data: Uint8Array, at: number): number {
  const three = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
  return Math.imul(three, 0x9e37_79b1) >>> (32 - HASH_BITS);
}

/** The longest of the nearest ones; of equally long ones the nearest. */
function findMatch(data: Uint8Array, at: number, heads: Int32Array, earlier: Int32Array): Match | undefined {
  const most = Math.min(LONGEST, data.length - at);
  if (most < SHORTEST) return undefined;
  let best: Match | undefined;
  let from = heads[hashAt(data, at)] ?? -1;
  for (let tries = 0; tries < MOST_TRIES && from >= 0 && at - from <= WINDOW; tries++) {
    let length = 0;
    while (length < most && data[from + length] === data[at + length]) length += 1;
    if (length >= SHORTEST && length > (best?.length ?? 0)) best = { length, distance: at - from };
    if (length === most) break;
    const next = earlier[from % WINDOW] ?? -1;
    if (next >= from) break; // That place was taken over by a later one.
    from = next;
  }
  return best;
}

/** A byte, the end (256), or a code for a length. */
function writeLiteral(bits: Bits, value: number): void {
  if (value < 144) bits.writeCode(0x30 + value, 8);
  else if (value < 256) bits.writeCode(0x190 + value - 144, 9);
  else if (value < 280) bits.writeCode(value - 256, 7);
  else bits.writeCode(0xc0 + value - 280, 8);
}

function writeMatch(bits: Bits, { length, distance }: Match): void {
  const lengthCode = codeOf(LENGTHS, length);
  writeLiteral(bits, 257 + lengthCode);
  bits.write(
    length - (LENGTHS[lengthCode] ?? 0),
    lengthCode < 8 || lengthCode === 28 ? 0 : (lengthCode >> 2) - 1,
  );
  const distanceCode = codeOf(DISTANCES, distance);
  bits.writeCode(distanceCode, 5);
  bits.write(distance - (DISTANCES[distanceCode] ?? 0), distanceCode < 4 ? 0 : (distanceCode >> 1) - 1);
}

function codeOf(starts: readonly number[], value: number): number {
  return starts.findLastIndex((start) => start <= value);
}

function storedLength(length: number): number {
  return length + 5 * Math.max(1, Math.ceil(length / MOST_STORED));
}

/** What does not pack: pictures, archives. */
function store(data: Uint8Array): Buffer {
  const blocks: Uint8Array[] = [];
  for (let start = 0; start === 0 || start < data.length; start += MOST_STORED) {
    const block = data.subarray(start, start + MOST_STORED);
    const head = Buffer.alloc(5);
    head.writeUInt8(start + MOST_STORED >= data.length ? 1 : 0);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    blocks.push(head, block);
  }
  return Buffer.concat(blocks);
}
