import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { installPackages } from "../../../scripts/setup/packages.mjs";
import { SetUpError } from "../../../scripts/setup/repository.mjs";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

/** A folder with a lockfile, and an npm that notes how it was called. */
function makeProject(npm: string): string {
  const folder = temporaryFolder();
  writeTree(folder, { "package-lock.json": "{}", "calls.txt": "", "npm-cli.js": npm });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.stubEnv("npm_execpath", join(folder, "npm-cli.js"));
  vi.stubEnv("npm_node_execpath", process.execPath);
  return folder;
}

const NOTING = `require("node:fs").appendFileSync("calls.txt", process.argv.slice(2).join(" ") + "\\n");`;

function calls(folder: string): readonly string[] {
  return readFileSync(join(folder, "calls.txt"), "utf8").split("\n").slice(0, -1);
}

test("packages are installed once, and again when the lockfile changes", () => {
  const folder = makeProject(NOTING);
  installPackages(folder, "packages");
  installPackages(folder, "packages");
  expect(calls(folder)).toHaveLength(1);
  writeTree(folder, { "package-lock.json": '{ "changed": true }' });
  installPackages(folder, "packages");
  expect(calls(folder)).toHaveLength(2);
});

test("installing runs no script of a package and leaves no development package out", () => {
  const folder = makeProject(NOTING);
  installPackages(folder, "packages");
  expect(calls(folder)[0]).toMatch(/^ci .*--ignore-scripts .*--include=dev/);
});

test("a failed installation shows what npm said and is tried again", () => {
  const folder = makeProject(`${NOTING} console.error("no such registry"); process.exit(1);`);
  const attempt = () => installPackages(folder, "packages");
  expect(attempt).toThrow(SetUpError);
  expect(attempt).toThrow(expect.objectContaining({ output: "no such registry" }));
  expect(calls(folder)).toHaveLength(2);
});
