/** DEPENDENCIES.md accounts for every package whose code a user runs: what is bundled and what is installed beside it. */
import { expect, test } from "vitest";
import { readRepositoryFile } from "../support/repository.ts";

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function bundledPackages(): readonly string[] {
  const notices = readRepositoryFile("packages/metier/dist/THIRD_PARTY_NOTICES.txt");
  return [...notices.matchAll(/^-{80}\n(\S+) \S+ \(.+\)\n-{80}$/gm)].map((match) => match[1] ?? "");
}

test("DEPENDENCIES.md has a section for each package that users run, and for no other", () => {
  const headings = [...readRepositoryFile("DEPENDENCIES.md").matchAll(/^### `(.+)`$/gm)].map(
    (match) => match[1],
  );
  const { dependencies = {} } = JSON.parse(readRepositoryFile("packages/metier/package.json")) as PackageFile;
  const used = new Set([...bundledPackages(), ...Object.keys(dependencies)]);
  expect(headings.toSorted()).toEqual([...used].toSorted());
});
