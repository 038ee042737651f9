import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIBRARY_ENTRIES } from "../../../scripts/build/library-entries.mjs";
import { layOutPapers, takePapersAway } from "../../../scripts/build/papers.mjs";
import { filesUnder, ROOT, readRepositoryFile } from "../../support/repository.ts";

interface PackReport {
  readonly files: readonly { readonly path: string }[];
}

test("the published package holds the command, the library, the skills, the recordings and the papers, and nothing else", () => {
  layOutPapers();
  onTestFinished(takePapersAway);
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: join(ROOT, "packages/metier"),
    encoding: "utf8",
  });
  const [report] = JSON.parse(stdout) as readonly PackReport[];
  const paths = report?.files.map(({ path }) => path) ?? [];
  const papers = ["CHANGELOG.md", "DEPENDENCIES.md", "LICENSE", "README.md", "SECURITY.md", "package.json"];
  const library = Object.keys(LIBRARY_ENTRIES).map((name) => `dist/${name}.js`);
  const program = [
    "bin/metier.js",
    "man/metier.1",
    "dist/cli/main.js",
    "dist/threads/scan.js",
    ...library,
    "dist/manifest.schema.json",
    "dist/overview.txt",
  ];
  const notices = "dist/THIRD_PARTY_NOTICES.txt";
  expect(paths).toEqual(expect.arrayContaining([...papers, ...program, notices]));
  const parts =
    /^(dist\/(ahead|chunks|cli\/chunks|inside|inspector|just-bash|native|types)\/|docs\/(explanation|how-to|migrate|reference)\/|examples\/|skills\/|recordings\/|schemas\/[a-z-]+\.schema\.json$)/;
  const others = paths.filter(
    (path) => ![...papers, ...program, notices].includes(path) && !parts.test(path),
  );
  expect(others).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(["docs/reference/library.md", "examples/01-list-skills.ts"]));
  expect(paths.filter((path) => /(^|\/)(node_modules|\.[^/]+)(\/|$)/.test(path))).toEqual([]);
});

test("[L2] what is imported by a path that is known at run time is left alone by bundlers, as it was built", () => {
  const files = filesUnder(["packages/metier/dist/chunks"], [".js"]).map(readRepositoryFile);
  const imports = files.flatMap((text) => [
    ...text.matchAll(/\bimport\((?!\s*["'])([^)]{0,120}pathToFileURL)/g),
  ]);
  expect(imports.length).toBeGreaterThan(0);
  for (const [, inside = ""] of imports)
    expect(inside).toContain("/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */");
});

test("[L11] the package says where it is from and what it is about", () => {
  const manifest = JSON.parse(readRepositoryFile("packages/metier/package.json"));
  expect(manifest).toMatchObject({
    repository: { type: "git", directory: "packages/metier" },
    homepage: expect.stringMatching(/^https:/),
    keywords: expect.arrayContaining(["agent-skills", "mcp"]),
  });
  for (const readme of ["README.md", "packages/metier/README.md"])
    expect(readRepositoryFile(readme)).toContain("npm install metier");
});
