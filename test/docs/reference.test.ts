/** The reference pages say what the program's own tables say. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { referencePages } from "../../scripts/docs/reference-pages.mjs";
import { filesUnder, ROOT, readRepositoryFile } from "../support/repository.ts";

const pages = await referencePages();

test.each(Object.entries(pages))("%s is what `npm run docs:sync` writes", (path, text) => {
  expect(existsSync(join(ROOT, path)) ? readRepositoryFile(path) : "no such file").toBe(text);
});

test("there is no reference page that nothing writes", () => {
  expect(filesUnder(["docs/reference"], [""]).filter((path) => !(path in pages))).toEqual([]);
});
