/**
 * Pins: what users rely on, written down beside the test. A change here is a change for them: it needs a CHANGELOG
 * line, and `npm run test:only -- test/pins --update` writes the new list for review.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIBRARY_ENTRIES } from "../../scripts/build/library-entries.mjs";
import { DIAGNOSTIC_CODES } from "../../src/foundation/diagnostic-codes.ts";
import { ERROR_CODES } from "../../src/foundation/errors.ts";
import { ROOT, readRepositoryFile } from "../support/repository.ts";

function lines(words: readonly string[]): string {
  return `${words.toSorted().join("\n")}\n`;
}

/** Every name that an entry of the library exports, by a list or where it is declared, types marked as such. */
function exportedNames(entry: string): readonly string[] {
  const text = readRepositoryFile(entry);
  const declared = [...text.matchAll(/^export (?:async )?(function|class|const|interface|type) (\w+)/gm)].map(
    ([, kind = "", name = ""]) => (/^(?:interface|type)$/.test(kind) ? `type ${name}` : name),
  );
  const lists = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)];
  const listed = lists.flatMap(([, typeOnly, list = ""]) =>
    list
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => {
        const name = entry.replace(/^type /, "").replace(/^.* as /, "");
        return typeOnly || entry.startsWith("type ") ? `type ${name}` : name;
      }),
  );
  return [...declared, ...listed];
}

test.each(Object.entries(LIBRARY_ENTRIES))("the exports of %s are pinned", async (name, source) => {
  const file = join(ROOT, source);
  const library = (await import(file)) as object;
  const names = exportedNames(source);
  const values = names.filter((exported) => !exported.startsWith("type "));
  expect(values.toSorted()).toEqual(Object.keys(library).toSorted());
  const pins = name === "index" ? "exports" : `exports-${name}`;
  await expect(lines(names)).toMatchFileSnapshot(`./${pins}.txt`);
});

test("the error codes and their exit codes are pinned", async () => {
  const codes = Object.entries(ERROR_CODES).map(([code, exit]) => `${code} ${exit}`);
  await expect(lines(codes)).toMatchFileSnapshot("./error-codes.txt");
});

test("the diagnostic codes are pinned", async () => {
  await expect(lines(Object.keys(DIAGNOSTIC_CODES))).toMatchFileSnapshot("./diagnostic-codes.txt");
});
