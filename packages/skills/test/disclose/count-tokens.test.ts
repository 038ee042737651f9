import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../../../../test/support/repository.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { estimateTokens, loadTokenCounter } from "../../src/disclose/count-tokens.ts";

const count = await loadTokenCounter();
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Text of many kinds: any characters, words, rare letters, numbers, code. */
const variedText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.string({ unit: fc.constantFrom(...LETTERS, " "), maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(..."jzqxvkw"), maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(..."0123456789²①٣."), maxLength: 20 }),
      fc.string({ unit: fc.constantFrom(..." \n\r\t/=-_.:<>|'\"ABC"), maxLength: 20 }),
      fc.lorem({ maxCount: 8 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));

test("tokens are counted by a real tokenizer", () => {
  expect(count("")).toBe(0);
  expect(count("hello world")).toBe(2);
  expect(count("<|endoftext|>")).toBeGreaterThan(1);
});

test("the tokenizer is loaded once", () => {
  expect(loadTokenCounter()).toBe(loadTokenCounter());
});

test("a long text has the tokens that the tokenizer counts in one go", () => {
  const text = "Read the diff, then write 1 line; see `docs/x.md`.\n\n## Next\nIt's for users. ".repeat(100);
  expect(count(text)).toBe(countTokens(text));
});

test("the estimate is never below the tokenizer", () => {
  fc.assert(
    fc.property(variedText, (text) => {
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(count(text));
    }),
    { numRuns: 2000 },
  );
});

test("nor for any three letters, with and without a blank before them", () => {
  const low: string[] = [];
  for (const a of LETTERS) {
    for (const b of LETTERS) {
      for (const c of LETTERS) {
        for (const word of [`${a}${b}${c}`, ` ${a}${b}${c}${a}${b}${c}${a}`]) {
          if (estimateTokens(word) < count(word)) low.push(word);
        }
      }
    }
  }
  expect(low).toEqual([]);
});

test("nor for the documents and sources of this repository, and for prose it is at most four times as much", () => {
  for (const path of [...filesUnder(["docs", "skills"], [".md"]), ...filesUnder(["src/disclose"], [".ts"])]) {
    const text = readRepositoryFile(path);
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(count(text));
    expect(estimateTokens(text)).toBeLessThan(4 * count(text) + 4);
  }
});

test.each([
  ["a word", "a".repeat(100_000)],
  ["digits", "7".repeat(100_001)],
  ["blanks", " ".repeat(100_000)],
  ["signs", "=\n/".repeat(30_000)],
  ["letters without words", "漢".repeat(30_000)],
])("%s without end is counted in bounded time", (_, text) => {
  expect(count(text)).toBeGreaterThan(0);
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(count(text));
});

verifies("case 55", "the estimate grows with the text", () => {
  fc.assert(
    fc.property(variedText, variedText, (text, more) => {
      expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(estimateTokens(text));
    }),
    { numRuns: 1000 },
  );
});
