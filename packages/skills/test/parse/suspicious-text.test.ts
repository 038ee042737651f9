import { expect, test } from "vitest";
import { findInvisibleCharacters, stripControlCharacters } from "../../src/parse/read-frontmatter.ts";
import type { UnplacedDiagnostic } from "../../src/parse/source-text.ts";

test("control characters are left out, and the first one's place is named", () => {
  const faults: UnplacedDiagnostic[] = [];
  expect(stripControlCharacters("a: b\nc: d\u0000\u0001e\u007f", 2, faults)).toBe("a: b\nc: de");
  expect(faults).toMatchObject([{ code: "text.control-character", severity: "warning", line: 3, column: 5 }]);
  expect(faults[0]?.message).toContain("3 control characters (U+0000 first)");
});

test("tabs and line ends are no control characters", () => {
  const faults: UnplacedDiagnostic[] = [];
  expect(stripControlCharacters("a:\tb\n\u0085", 1, faults)).toBe("a:\tb\n\u0085");
  expect(faults).toEqual([]);
});

test.each([
  ["a zero-width space", "a\u200bb"],
  ["a right-to-left override", "a\u202eb"],
  ["an isolate", "a\u2066b"],
  ["a soft hyphen", "a\u00adb"],
  ["a byte order mark inside", "a\ufeffb"],
  ["hidden tag characters", "a\u{e0068}\u{e0069}"],
  ["a joiner between ASCII letters", "a\u200db"],
  ["a filler", "a\u3164b"],
  ["a selector that chooses nothing", "a\ufe0f"],
])("%s is reported", (_, text) => {
  expect(findInvisibleCharacters(`x: y\n${text}`, 2)).toMatchObject({
    code: "text.invisible",
    severity: "warning",
    line: 3,
    column: 2,
  });
});

test.each([
  ["emoji made with joiners", "🕵🏽‍♂️ 🐦‍⬛ ❤️‍🔥"],
  ["a flag made with tags", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
  ["a script that joins", "می‌خواهم क्‍ष"],
  ["variation selectors", "⚙️ 葛󠄀"],
  ["text of any language", "naïve 日本語 العربية"],
])("%s is not", (_, text) => {
  expect(findInvisibleCharacters(text, 1)).toBeUndefined();
});
