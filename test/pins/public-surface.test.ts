/**
 * Pins: what users rely on, written down beside the test. A change here is a change for them: it needs a CHANGELOG
 * line, and `npm run test:only -- test/pins --update` writes the new list for review.
 */
import { expect, test } from "vitest";
import { DIAGNOSTIC_CODES } from "../../src/foundation/diagnostic-codes.ts";
import { ERROR_CODES } from "../../src/foundation/errors.ts";
import { readRepositoryFile } from "../support/repository.ts";

function lines(words: readonly string[]): string {
  return `${words.toSorted().join("\n")}\n`;
}

/** Every name in the export lists of the library's entry, types marked as such. */
function exportedNames(): readonly string[] {
  const lists = [...readRepositoryFile("src/index.ts").matchAll(/^export (type )?\{([^}]*)\}/gm)];
  return lists.flatMap(([, typeOnly, list = ""]) =>
    list
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => {
        const name = entry.replace(/^type /, "").replace(/^.* as /, "");
        return typeOnly || entry.startsWith("type ") ? `type ${name}` : name;
      }),
  );
}

test("the exports of the library are pinned", async () => {
  const library = await import("../../src/index.ts");
  const values = exportedNames().filter((name) => !name.startsWith("type "));
  expect(values.toSorted()).toEqual(Object.keys(library).toSorted());
  await expect(lines(exportedNames())).toMatchFileSnapshot("./exports.txt");
});

test("the error codes and their exit codes are pinned", async () => {
  const codes = Object.entries(ERROR_CODES).map(([code, exit]) => `${code} ${exit}`);
  await expect(lines(codes)).toMatchFileSnapshot("./error-codes.txt");
});

test("the diagnostic codes are pinned", async () => {
  await expect(lines(Object.keys(DIAGNOSTIC_CODES))).toMatchFileSnapshot("./diagnostic-codes.txt");
});
