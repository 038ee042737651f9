/**
 * Pins: what users rely on, written down beside the test. A change here is a change for them: it needs a CHANGELOG
 * line, and `npm run test:only -- test/pins --update` writes the new texts for review.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIAGNOSTIC_CODES } from "@metier/base/diagnostic";
import { ERROR_CODES } from "@metier/base/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findUndocumented } from "../../scripts/build/api-comments.mjs";
import { reportApi } from "../../scripts/build/api-report.mjs";
import { declarationOf, writeDeclarations } from "../../scripts/build/declarations.mjs";
import { LIBRARY_ENTRIES } from "../../scripts/build/library-entries.mjs";
import { ROOT } from "../support/repository.ts";

function lines(words: readonly string[]): string {
  return `${words.toSorted().join("\n")}\n`;
}

/** The declarations of all packages: writing them is a whole run of the compiler, so it is done once. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "metier-test-declarations-"));
  writeDeclarations(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the API reports show every public name and its signature", async () => {
  for (const [name, source] of Object.entries(LIBRARY_ENTRIES)) {
    const report = reportApi(folder, declarationOf(source));
    const library = (await import(join(ROOT, source))) as object;
    const missing = Object.keys(library).filter(
      (value) => !new RegExp(`^export .*\\b${value}\\b`, "m").test(report),
    );
    expect(missing).toEqual([]);
    await expect(report).toMatchFileSnapshot(`./api/${name === "index" ? "metier" : name}.txt`);
  }
});

test("[L12] no public name and no member of one is without a sentence", () => {
  const lacking = Object.values(LIBRARY_ENTRIES).flatMap((source) =>
    findUndocumented(folder, declarationOf(source)),
  );
  expect([...new Set(lacking)]).toEqual([]);
});

test("the error codes and their exit codes are pinned", async () => {
  const codes = Object.entries(ERROR_CODES).map(([code, exit]) => `${code} ${exit}`);
  await expect(lines(codes)).toMatchFileSnapshot("./error-codes.txt");
});

test("the diagnostic codes are pinned", async () => {
  await expect(lines(Object.keys(DIAGNOSTIC_CODES))).toMatchFileSnapshot("./diagnostic-codes.txt");
});
