import { expect, test } from "vitest";
import { eachWord, splitCompound, termOf } from "../../src/find/split-words.ts";

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  eachWord(text, 0, text.length, (word) => words.push(word));
  return words;
}

test("kebab-case, snake_case and paths are taken apart", () => {
  expect(wordsOf("pdf-form_filler/src.ts")).toEqual(["pdf", "form", "filler", "src", "ts"]);
});

test("what follows an apostrophe is left out", () => {
  expect(wordsOf("the user's files, don’t")).toEqual(["the", "user", "files", "don"]);
});

test("writing without spaces is taken by the character", () => {
  expect(wordsOf("生成报告 report ภาษา")).toEqual(["生", "成", "报", "告", "report", "ภ", "า", "ษ", "า"]);
});

test("encoded data is no word", () => {
  expect(wordsOf(`key ${"A1b2".repeat(40)} end`)).toEqual(["key", "end"]);
});

test("compounds have parts, other words have none", () => {
  expect(splitCompound("parseHTTPRequest")).toEqual(["parse", "HTTP", "Request"]);
  expect(splitCompound("PdfFormFiller")).toEqual(["Pdf", "Form", "Filler"]);
  expect(splitCompound("README")).toEqual([]);
  expect(splitCompound("plain")).toEqual([]);
});

test("a term has no case, no accents and no inflection, and stop words have no term", () => {
  expect(termOf("Résumés")).toBe("resum");
  expect(termOf("ＰＤＦ")).toBe("pdf");
  expect(termOf("Reviewing")).toBe("review");
  expect(termOf("The")).toBeUndefined();
});
