/** Bits in the order of deflate: numbers from their lowest bit on, codes from their highest. */

export interface BitWriter {
  write(value: number, count: number): void;
  writeCode(code: number, count: number): void;
  /** All bytes, the last one filled with zeros. */
  finish(): Buffer;
}

export function createBitWriter(): BitWriter {
  let bytes = Buffer.alloc(65_536);
  let length = 0;
  let pending = 0;
  let filled = 0;
  const put = (byte: number): void => {
    if (length === bytes.length) bytes = Buffer.concat([bytes], 2 * length);
    bytes[length++] = byte;
  };
  const write = (value: number, count: number): void => {
    pending |= value << filled;
    filled += count;
    for (; filled >= 8; filled -= 8) {
      put(pending & 0xff);
      pending >>>= 8;
    }
  };
  return {
    write,
    writeCode(code, count) {
      for (let bit = count - 1; bit >= 0; bit--) write((code >> bit) & 1, 1);
    },
    finish() {
      if (filled > 0) put(pending & 0xff);
      return Buffer.from(bytes.subarray(0, length));
    },
  };
}
