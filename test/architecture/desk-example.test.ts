/** `examples/desk` stands alone: no file of ours in it, its own list of libraries, and none of those in what we publish. */
import { expect, test } from "vitest";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const { dependencies } = JSON.parse(readRepositoryFile("examples/desk/package.json")) as PackageFile;

test("it imports Node, itself and the libraries it lists", () => {
  const programs = filesUnder(["examples/desk"], [".ts"]).filter((path) => !path.includes("/test/"));
  const imported = programs.flatMap((path) =>
    [...readRepositoryFile(path).matchAll(/(?: from |^import |\bimport\()"([^"]+)"\)?;?$/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  const foreign = imported.filter((name) => !name.startsWith("node:") && !/^\.\/[\w-]+\.ts$/.test(name));
  expect([...new Set(foreign)].sort()).toEqual(Object.keys(dependencies).sort());
});

test("it lists the versions that are tested here", () => {
  const { devDependencies } = JSON.parse(readRepositoryFile("package.json")) as PackageFile;
  const broker = JSON.parse(readRepositoryFile("packages/capabilities/package.json")) as PackageFile;
  expect({ ...broker.dependencies, ...devDependencies }).toMatchObject(dependencies);
});

test("nothing that only it uses is bundled", () => {
  const notices = readRepositoryFile("packages/metier/dist/THIRD_PARTY_NOTICES.txt");
  const bundled = [...notices.matchAll(/^-{80}\n(\S+) \S+ \(.+\)$/gm)].map(([, name]) => name);
  expect(bundled).toContain("jose");
  for (const name of ["ical.js", "postal-mime"]) expect(bundled).not.toContain(name);
});
