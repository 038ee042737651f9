/** The code a reader copies compiles and runs: every `ts run` block of README and the guides; files that they show compile. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeBlocks, filesShown, readDocuments } from "../support/documents.ts";
import { ROOT } from "../support/repository.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";

const samples = readDocuments()
  .flatMap(codeBlocks)
  .filter(({ info }) => info === "ts run")
  .map((block) => ({ ...block, file: `${block.document.replace(/\W+/g, "-")}-${block.line}.ts` }));

/** A project of a user: the samples, and the package where npm would put it. */
function makeProject(): string {
  const project = temporaryFolder();
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules", "metier"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  if (existsSync(join(ROOT, "skills")))
    cpSync(join(ROOT, "skills"), join(project, "skills"), { recursive: true });
  for (const { file, code } of samples) writeFileSync(join(project, file), code);
  return project;
}

test("README shows code, and all code samples compile", () => {
  expect(samples.map((sample) => sample.document)).toContain("README.md");
  const project = makeProject();
  writeTree(
    join(project, "shown"),
    Object.fromEntries(
      readDocuments()
        .flatMap(filesShown)
        .map(({ path, code }) => [path, code]),
    ),
  );
  const compilerOptions = {
    declaration: false,
    isolatedDeclarations: false,
    paths: {
      metier: [join(ROOT, "src/index.ts")],
      "metier/toolset": [join(ROOT, "src/sandbox/inside/define-toolset.ts")],
    },
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  const config = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions,
    include: ["*.ts", "shown/**/*.ts"],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" });
  expect(stdout).toBe("");
});

test.each(samples)("the code at $document:$line runs", ({ file }) => {
  const cwd = makeProject();
  const home = join(cwd, "home");
  mkdirSync(home);
  const env = { ...process.env, HOME: home };
  const { status, stderr } = spawnSync(process.execPath, [file], { cwd, env, encoding: "utf8", input: "" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
