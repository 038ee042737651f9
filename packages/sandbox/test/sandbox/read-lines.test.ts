import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "../../src/sandbox/process/process-output.ts";

function read(chunks: readonly Uint8Array[], maxBytes: number): { lines: string[]; long: number[] } {
  const lines: string[] = [];
  const long: number[] = [];
  const take = createLineReader(
    maxBytes,
    (line) => lines.push(line),
    (bytes) => long.push(bytes),
  );
  for (const chunk of chunks) take(chunk);
  return { lines, long };
}

test("lines come out whole, however they were cut", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      expect(read(chunks, 1_000_000)).toEqual({ lines, long: [] });
    }),
  );
});

test("a line that is too long is told once, and nothing is read after it", () => {
  const chunks = ["ok\n", "123456", "789\nmore\n", "and more\n"].map((text) => Buffer.from(text));
  expect(read(chunks, 5)).toEqual({ lines: ["ok"], long: [6] });
  expect(read([Buffer.from("ok\n123456\nmore\n")], 5)).toEqual({ lines: ["ok"], long: [6] });
  expect(read([Buffer.from("12345\n")], 5)).toEqual({ lines: ["12345"], long: [] });
});
