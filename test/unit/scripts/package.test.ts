import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { LIBRARY_ENTRIES } from "../../../scripts/build/library-entries.mjs";
import { ROOT } from "../../support/repository.ts";

interface PackReport {
  readonly files: readonly { readonly path: string }[];
}

test("the published package holds the command, the library, the skills, the recordings and the papers, and nothing else", () => {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const [report] = JSON.parse(stdout) as readonly PackReport[];
  const paths = report?.files.map(({ path }) => path) ?? [];
  const papers = ["CHANGELOG.md", "DEPENDENCIES.md", "LICENSE", "README.md", "package.json"];
  const library = Object.keys(LIBRARY_ENTRIES).map((name) => `dist/${name}.js`);
  const program = ["bin/metier.js", "dist/cli/main.js", ...library, "dist/manifest.schema.json"];
  const notices = "dist/THIRD_PARTY_NOTICES.txt";
  expect(paths).toEqual(expect.arrayContaining([...papers, ...program, notices]));
  const parts = /^(dist\/(chunks|cli\/chunks|inside|just-bash|providers|types)\/|skills\/|recordings\/)/;
  const others = paths.filter(
    (path) => ![...papers, ...program, notices].includes(path) && !parts.test(path),
  );
  expect(others).toEqual([]);
});
