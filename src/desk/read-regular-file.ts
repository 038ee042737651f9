/** The bytes of a file of the desk, at most so many. Links, pipes and devices count as no file. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface FileBytes {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
}

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `undefined`: it is none, or it was moved meanwhile. */
export function readRegularFile(path: string, most: number): FileBytes | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(stats.size, most));
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(descriptor, bytes, length, bytes.length - length, null);
    return { bytes: bytes.subarray(0, length), size: stats.size };
  } catch {
    return undefined; // Gone, not readable, or a link: for the reader there is no file.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
