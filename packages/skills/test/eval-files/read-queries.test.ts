import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { readQueries, readRoutingQueries } from "../../src/eval-files/read-queries.ts";

function write(text: string): string {
  const folder = temporaryFolder();
  writeTree(folder, { "q.json": text });
  return join(folder, "q.json");
}

test("queries are read, and those that is not valid are named with their lines", () => {
  const { queries, diagnostics } = readQueries(
    write(`[
  {"query": "make it shorter", "should_trigger": true},
  {"query": "make it longer", "should_trigger": false},
  {"query": "make it shorter", "should_trigger": false},
  {"query": "no answer"},
  {"query": "/summarize this", "should_trigger": true},
  {"should_trigger": true},
  "text"
]`),
  );
  expect(queries).toEqual([
    { query: "make it shorter", shouldTrigger: true },
    { query: "make it longer", shouldTrigger: false },
  ]);
  expect(diagnostics.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8]);
});

test("a file that is no list is reported", () => {
  expect(readQueries(write('{"a": 1}')).diagnostics).toMatchObject([{ code: "eval.invalid" }]);
  expect(readQueries(join(temporaryFolder(), "none.json")).diagnostics).toMatchObject([
    { code: "eval.unreadable" },
  ]);
});

test("queries for a whole catalog name skills that are there, or none", () => {
  const file = write(
    '[{"query": "a", "skill": "pdf"}, {"query": "b", "skill": null}, {"query": "c", "skill": "x"}]',
  );
  const { queries, diagnostics } = readRoutingQueries(file, ["pdf"]);
  expect(queries).toEqual([
    { query: "a", skill: "pdf" },
    { query: "b", skill: null },
  ]);
  expect(diagnostics).toMatchObject([{ message: "Query 3 names the skill `x`, which is not usable here." }]);
});
