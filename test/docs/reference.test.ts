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

test("no page says that it is written by a command which does not write it", () => {
  const orphans = filesUnder(["docs/reference"], [""]).filter(
    (path) => !(path in pages) && readRepositoryFile(path).includes("Written by `npm run docs:sync`"),
  );
  expect(orphans).toEqual([]);
});
