import { expect, test } from "vitest";
import { stemEnglish } from "../../src/find/split-words.ts";

const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  review: ["review", "reviews", "reviewed", "reviewing"],
  deploy: ["deploy", "deploys", "deployed", "deploying", "deployment"],
  generat: ["generate", "generates", "generated", "generating", "generation", "generator"],
  optim: ["optimize", "optimizing", "optimization"],
  hop: ["hop", "hopping", "hopped"],
  hope: ["hope", "hoping", "hoped"],
  studi: ["study", "studies", "studied"],
  use: ["use", "using", "used"],
  eye: ["eye", "eyes"],
  agre: ["agree", "agreed"],
  hopeless: ["hopelessly", "hopelessness"],
};

test.each(Object.entries(FAMILIES))("all forms of a word become `%s`", (stem, words) => {
  expect([...new Set(words.map(stemEnglish))]).toEqual([stem]);
});

test.each(["sky", "news", "bias", "us", "gas", "this", "feed", "c", "k8s", "größe", "2026"])(
  "`%s` stays as it is",
  (word) => {
    expect(stemEnglish(word)).toBe(word);
  },
);

test("words that only look alike stay apart", () => {
  expect(stemEnglish("university")).not.toBe(stemEnglish("unit"));
  expect(stemEnglish("general")).not.toBe(stemEnglish("generation"));
  expect(stemEnglish("proceed")).not.toBe(stemEnglish("process"));
});
