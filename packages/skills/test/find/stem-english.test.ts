import { digestBytes } from "@metier/base/digest";
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

const LETTERS = "abcdeghilmnorstuvyz";
const ENDINGS =
  "ational fulness ization ly y ing ingly ed edly eed eedly ies ied s ss us sses e ll ion tion ogi logi li ness ful al er ic ize ous ive ement ative able".split(
    " ",
  );

/** The same words every time; most of them end as English ones do. */
function makeWords(count: number): readonly string[] {
  let seed = 7;
  const below = (limit: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };
  const ending = (): string => ENDINGS[below(ENDINGS.length)] ?? "";
  return Array.from({ length: count }, () => {
    const begin = Array.from({ length: 1 + below(8) }, () => LETTERS[below(LETTERS.length)]).join("");
    return `${begin}${ending()}${below(5) === 0 ? ending() : ""}`;
  });
}

test("stems stay what they are: the ranking, and every index on disk, is made of them", () => {
  const stems = makeWords(50_000).map(stemEnglish);
  expect(digestBytes(stems.join(" "))).toBe(
    "sha256:78bbe0136324131cbe22cf6b43c47fa98292df179f33155900e386580be16da4",
  );
});
