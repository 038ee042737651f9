import { safeText } from "@metier/base/text";
import { expect, test } from "vitest";
import { fitText } from "../src/output/fit-text.ts";
import { cutText } from "../src/output/style.ts";

test.each([
  ["short", "short"],
  ["exactly ten", "exactly t…"],
  ["one two  three", "one two t…"],
  ["line\nbreak", "line break"],
  ["  padded  ", "padded"],
  ["ends here ", "ends here"],
  ["größer als zehn", "größer al…"],
  ["👩‍🚀".repeat(20), undefined],
  ["", ""],
])("cut to ten characters, %j is %j", (text, expected) => {
  const cut = cutText(text, 10);
  if (expected !== undefined) expect(cut).toBe(expected);
  expect([...cut].length).toBeLessThanOrEqual(10);
});

test("what could write to a terminal or hide text is replaced", () => {
  expect(safeText("a\u001b[31mb\u202ec\u200bd\u{e0041}e\tf\ng")).toBe(
    "a\ufffd[31mb\ufffdc\ufffdd\ufffde\tf\ng",
  );
});

test("a long line is broken between words, but never inside of a command", () => {
  const line = "error: nothing is here. Run `metier trust ./skills/report` and try again.";
  expect(fitText(line, 40)).toBe(
    "error: nothing is here. Run\n  `metier trust ./skills/report` and try\n  again.",
  );
  expect(fitText("an odd ` mark that never ends", 12)).toBe("an odd `\n  mark that\n  never ends");
});
