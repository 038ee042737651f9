import { expect, test } from "vitest";
import { createVocabulary } from "../../src/find/number-words.ts";

test("terms are numbered as they come, however many there are, and known ones keep their numbers", () => {
  const terms = Array.from({ length: 60_000 }, (_, index) => `term${index.toString(36)}`);
  const known = terms.slice(0, 20_000);
  const vocabulary = createVocabulary(known);
  for (const term of terms) vocabulary.add(term);
  expect(vocabulary.terms).toEqual(terms);
  expect(terms.map((term) => vocabulary.numberOf(term))).toEqual(terms.map((_, index) => index));
  expect(vocabulary.add("term0")).toBe(0);
  expect(vocabulary.numberOf("another")).toBe(-1);
  expect(createVocabulary().numberOf("")).toBe(-1);
});
