/** Skipping what cannot win changes nothing: the finder gives what scoring every skill gives, to the last bit. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateDocuments, generateQueries } from "../../../../bench/find/documents.mjs";
import { buildFinder } from "../../src/find/build-finder.ts";
import { plainFinder } from "./plain-ranking.ts";

const LONG_RUN = Number(process.env.METIER_FUZZ_RUNS ?? 0);

/** Few and similar, so that skills share terms, pairs and misspellings, and scores are equal or almost so. */
const WORDS =
  "map maps mapping chart charts carts draw drawing drawn the of deploy deploys depoly release releases relaese getMap " +
  "HTTPRequest ünïcode 图表 v2 a1 reviewing review reviews notebook notebooks notbook configuration configurations # \n ```\n";

const word = fc.constantFrom(...WORDS.split(" "));
const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(" "));
const skill = fc.record({
  name: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("-")),
  description: text,
  tags: fc.array(word, { maxLength: 3 }),
  body: text,
  location: fc.string({ maxLength: 3 }),
});

describe("the fast ranking", () => {
  test("is the plain one, over generated collections and requests", () => {
    fc.assert(
      fc.property(
        fc.array(skill, { maxLength: 40 }),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 12 }),
        (skills, queries, k) => {
          const finder = buildFinder(skills);
          const plain = plainFinder(skills);
          for (const query of queries) expect(finder.find(query, k)).toEqual(plain(query, k));
        },
      ),
      { numRuns: LONG_RUN || 300 },
    );
  });

  test.each([40, 300])("is the plain one over %i skills as long as real ones", (count) => {
    const skills = generateDocuments(count);
    const finder = buildFinder(skills);
    const plain = plainFinder(skills);
    for (const query of generateQueries(40, count)) {
      const expected = plain(query, 50);
      for (const k of [1, 10, 50]) expect(finder.find(query, k)).toEqual(expected.slice(0, k));
    }
  });
});
