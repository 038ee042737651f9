/** No file grows beyond what one can read in a sitting. */
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile, SOURCES, TESTS } from "../support/repository.ts";

const MAX_LINES = 400;

test(`no file has more than ${MAX_LINES} lines`, () => {
  const tooLong = filesUnder(
    [...SOURCES, ...TESTS, "packages/metier/bin", "scripts", "bench", "examples"],
    [".ts", ".mjs", ".js"],
  )
    .map((path) => ({ path, lines: readRepositoryFile(path).trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > MAX_LINES);
  expect(tooLong).toEqual([]);
});
