import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../test/support/repository.ts";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { digestBytes } from "../src/digest.ts";
import {
  findPackage,
  findThreadProgram,
  nativeCode,
  ownFile,
  packageFolder,
  runsFromSources,
} from "../src/files/own-package.ts";
import { VERSION } from "../src/places.ts";

const PARTS = ["skills", "dist/inside", "dist/just-bash"];

test("[L2] in a clone the package is the one beside, and its sources run", () => {
  expect(ownFile()).toBe(join(ROOT, "packages/base/src/files/own-package.ts"));
  expect(packageFolder()).toBe(join(ROOT, "packages/metier"));
  expect(runsFromSources()).toBe(true);
});

test("the program of a thread is that of the sources in a clone, and nothing where there is none", () => {
  const source = "skills/src/catalog/ahead-thread.ts";
  expect(findThreadProgram(source, "dist/none.js")).toBe(join(ROOT, "packages", source));
  expect(findThreadProgram("skills/src/none.ts", "package.json")).toBeUndefined();
});

test("a program that may read only its own folder has digests without C code", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "app/files/placeholder": "", "app/places.ts": 'export const VERSION = "0";\n' });
  const base = join(ROOT, "packages/base/src");
  copyFileSync(join(base, "files/own-package.ts"), join(folder, "app/files/own.ts"));
  copyFileSync(join(base, "digest.ts"), join(folder, "app/digest.ts"));
  const program = join(folder, "app/main.ts");
  const digest = join(folder, "app/digest.ts");
  writeFileSync(digest, readFileSync(digest, "utf8").replace("own-package.ts", "own.ts"));
  writeFileSync(program, 'import { digestBytes } from "./digest.ts"; console.log(digestBytes("x"));');
  const args = ["--no-warnings", "--permission", `--allow-fs-read=${join(folder, "app")}`, program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(digestBytes("x"));
});

test("C code is loaded once for all who use it", () => {
  const first = nativeCode();
  expect(nativeCode()).toBe(first);
});

test("[L2] built code finds the package it lies in", () => {
  const folder = temporaryFolder();
  for (const part of PARTS) mkdirSync(join(folder, part), { recursive: true });
  writeTree(folder, { "package.json": JSON.stringify({ name: "metier", version: VERSION }) });
  expect(findPackage(join(folder, "dist/chunks/chunk-A.js"))).toBe(folder);
  expect(findPackage(join(folder, "dist/index.js"))).toBe(folder);
  rmSync(join(folder, "skills"), { recursive: true });
  expect(findPackage(join(folder, "dist/index.js"))).toBeUndefined();
});

test("[L2] a program that bundles Metier and has skills of its own is not taken for it", () => {
  const folder = temporaryFolder();
  for (const part of PARTS) mkdirSync(join(folder, part), { recursive: true });
  writeTree(folder, { "skills/own/SKILL.md": "x" });
  for (const manifest of [{ name: "shop", version: VERSION }, { name: "metier", version: "9.9.9" }, null]) {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    expect(findPackage(join(folder, "dist/server.js"))).toBeUndefined();
  }
  expect(findPackage(undefined)).toBeUndefined();
});

test("[L2] its file is asked of the running code: in ES modules, in CommonJS, and where a program treats `Error` as its own", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "files/placeholder": "", "places.ts": 'export const VERSION = "0";\n' });
  const copy = join(folder, "files/bundle.ts");
  copyFileSync(join(ROOT, "packages/base/src/files/own-package.ts"), copy);
  const runs = [
    "import { ownFile } from './files/bundle.ts'; console.log(ownFile());",
    "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'mine'; const { ownFile } = await import('./files/bundle.ts'); console.log(ownFile()); if (new Error('x').stack !== 'mine' || Error.stackTraceLimit !== 0) throw 1;",
    "const { createRequire } = await import('node:module'); console.log(createRequire(process.cwd() + '/x.js')('./files/bundle.ts').ownFile());",
  ];
  for (const code of runs) {
    const args = ["--no-warnings", "--input-type=module", "--eval", code];
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect(stdout.trim()).toBe(copy);
  }
  const frozen =
    "const { ownFile } = await import('./files/bundle.ts'); Object.freeze(Error); console.log(ownFile());";
  const args = ["--no-warnings", "--input-type=module", "--eval", frozen];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(stdout.trim()).toBe("undefined");
});
