import { expect, test } from "vitest";
import { signatureOf } from "../src/file-types.ts";

/** Text of this length, with the mark at one place. */
function textWith(mark: string, at: number, length = 40_000): Buffer {
  const text = Buffer.alloc(length, "a text\n", "latin1");
  text.write(mark, at, "latin1");
  return text;
}

test.each([
  ["\x7fELF", 0, "an ELF program"],
  ["PK\x03\x04", 0, "a ZIP archive"],
  ["ustar", 257, "a tar archive"],
  ["CD001", 32_769, "a disk image"],
  ["ftyp", 4, "audio or video"],
])("%j at %i is %s, and text anywhere else", (mark, at, what) => {
  expect(signatureOf(textWith(mark, at))?.what).toBe(what);
  expect(signatureOf(textWith(mark, at + 1))).toBeUndefined();
  expect(signatureOf(textWith(mark, at).subarray(0, at + mark.length - 1))).toBeUndefined();
});

test("of two signatures, the one that is first in the table counts", () => {
  const both = textWith("ustar", 257);
  both.write("\x89PNG\r\n\x1a\n", 0, "latin1");
  expect(signatureOf(both)?.what).toBe("a tar archive");
});
