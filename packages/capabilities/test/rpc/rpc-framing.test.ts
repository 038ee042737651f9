/** Frames: what is sent comes out the same, in whatever pieces it comes. */
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from "@metier/sandbox";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

function encode(text: string): Buffer {
  return encodeFrame(text) ?? Buffer.alloc(0);
}

describe("frames", () => {
  test("four bytes with the length in bytes, the biggest first, then the text", () => {
    expect([...encode("ä1")]).toEqual([0, 0, 0, 3, 0xc3, 0xa4, 0x31]);
    expect([...encode("x".repeat(258)).subarray(0, 4)]).toEqual([0, 0, 1, 2]);
  });

  test("texts come out as they went in, however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 9 })),
        (texts, cuts) => {
          const bytes = Buffer.concat(texts.map(encode));
          const reader = createFrameReader();
          const got: string[] = [];
          for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
            const size = cuts[piece] ?? bytes.length;
            for (const frame of reader.push(bytes.subarray(at, at + size))) got.push(frame.toString());
            at += size;
          }
          expect(got).toEqual(texts);
          expect(reader.heldBytes).toBe(0);
        },
      ),
    );
  });

  test("the longest frame is taken, and a longer one is neither written nor read", () => {
    const longest = "x".repeat(MAX_FRAME_BYTES);
    const reader = createFrameReader();
    expect(reader.push(encode(longest))[0]?.length).toBe(MAX_FRAME_BYTES);
    expect(encodeFrame(`${longest}x`)).toBeUndefined();
    expect(reader.push(Buffer.from([0, 0xa0, 0, 1, 65, 66]))).toEqual([]);
    expect(reader.tooLong).toBe(MAX_FRAME_BYTES + 1);
    expect(reader.push(encode("after it nothing is read"))).toEqual([]);
  });

  test("only what has come is held, whatever length is claimed", () => {
    const reader = createFrameReader();
    reader.push(Buffer.from([0, 0xa0, 0, 0]));
    expect(reader.heldBytes).toBe(4);
    reader.push(Buffer.alloc(100));
    expect(reader.heldBytes).toBe(104);
  });

  test("random bytes give frames or a length that is refused, and nothing else happens", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const reader = createFrameReader();
        const taken = chunks.flatMap((chunk) => reader.push(chunk));
        const bytes = taken.reduce((sum, frame) => sum + 4 + frame.length, 0);
        const came = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        expect(bytes + reader.heldBytes).toBeLessThanOrEqual(came);
        if (reader.tooLong === undefined) expect(bytes + reader.heldBytes).toBe(came);
      }),
    );
  });
});
