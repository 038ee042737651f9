/**
 * Frames of the capability socket, for both of its ends: four bytes with the length of what follows, the biggest first,
 * then that many bytes of JSON. A reader takes what comes in any pieces and holds no more than has come.
 */

/** Of what a frame holds, in bytes. */
export const MAX_FRAME_BYTES: number = 10 * 1024 * 1024;

const PREFIX_BYTES = 4;
/** A buffer begins with this and doubles: a length that is only claimed costs nothing. */
const FIRST_BYTES = 4096;

/** `undefined`: the text does not fit into a frame. */
export function encodeFrame(text: string): Buffer | undefined {
  const length = Buffer.byteLength(text);
  if (length > MAX_FRAME_BYTES) return undefined;
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + length);
  frame.writeUInt32BE(length);
  frame.write(text, PREFIX_BYTES);
  return frame;
}

export interface FrameReader {
  /** Gives the frames that are whole now. After a `tooLong` the rest cannot be told apart: there is no more to read. */
  push(chunk: Uint8Array): readonly Buffer[];
  /** The length that was claimed, when it was more than fits. */
  readonly tooLong: number | undefined;
  /** Bytes of a frame that is not whole yet. */
  readonly heldBytes: number;
}

export function createFrameReader(): FrameReader {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  let prefixBytes = 0;
  let body = Buffer.alloc(0);
  let bodyBytes = 0;
  let tooLong: number | undefined;

  const takePrefix = (chunk: Uint8Array): number => {
    const taken = Math.min(PREFIX_BYTES - prefixBytes, chunk.length);
    prefix.set(chunk.subarray(0, taken), prefixBytes);
    prefixBytes += taken;
    return taken;
  };
  const takeBody = (chunk: Uint8Array, length: number): number => {
    const taken = Math.min(length - bodyBytes, chunk.length);
    if (bodyBytes + taken > body.length) {
      const size = Math.max(bodyBytes + taken, 2 * body.length, FIRST_BYTES);
      const grown = Buffer.allocUnsafe(Math.min(length, size));
      body.copy(grown, 0, 0, bodyBytes);
      body = grown;
    }
    body.set(chunk.subarray(0, taken), bodyBytes);
    bodyBytes += taken;
    return taken;
  };
  const finish = (length: number): Buffer => {
    const frame = body.subarray(0, length);
    [body, bodyBytes, prefixBytes] = [Buffer.alloc(0), 0, 0];
    return frame;
  };

  return {
    push(chunk) {
      const frames: Buffer[] = [];
      let rest = chunk;
      while (rest.length > 0 && tooLong === undefined) {
        rest = rest.subarray(takePrefix(rest));
        if (prefixBytes < PREFIX_BYTES) break;
        const length = prefix.readUInt32BE();
        if (length > MAX_FRAME_BYTES) tooLong = length;
        else {
          rest = rest.subarray(takeBody(rest, length));
          if (bodyBytes === length) frames.push(finish(length));
        }
      }
      return frames;
    },
    get tooLong() {
      return tooLong;
    },
    get heldBytes() {
      return prefixBytes + bodyBytes;
    },
  };
}
