/**
 * The code a reader copies compiles and runs: every `ts run` block of README and the docs. A `text output` block below one is
 * what it prints (`METIER_SHOWN=write` writes it). Files that pages show compile.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeBlocks, filesShown, readDocuments } from "../support/documents.ts";
import { linkPackages } from "../support/link-packages.ts";
import { ROOT, readRepositoryFile } from "../support/repository.ts";
import { isAsShown, writeOutput } from "../support/shown-session.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";

const samples = readDocuments().flatMap((document) => {
  const blocks = codeBlocks(document);
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    const shown = next?.info === "text output" ? next.code : undefined;
    const file = `${block.document.replace(/\W+/g, "-")}-${block.line}.ts`;
    return block.info === "ts run" ? [{ ...block, file, shown }] : [];
  });
});

/** A project of a user: the samples, and the package where npm would put it. */
function makeProject(): string {
  const project = temporaryFolder();
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  cpSync(join(ROOT, "packages/metier/skills"), join(project, "skills"), { recursive: true });
  for (const { file, code } of samples) {
    linkPackages(code, project);
    writeFileSync(join(project, file), code);
  }
  return project;
}

/** `metier` and its subpaths lead to the sources, as in this repository. */
function sourcePaths(): Record<string, readonly string[]> {
  const { compilerOptions } = JSON.parse(readRepositoryFile("tsconfig.json")) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
  };
  return Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([name, paths]) => [
      name,
      paths.map((path) => join(ROOT, path)),
    ]),
  );
}

test("README shows code, and all code samples compile", () => {
  expect(samples.map((sample) => sample.document)).toContain("README.md");
  const project = makeProject();
  const shown = readDocuments().flatMap(filesShown);
  for (const { code } of shown) linkPackages(code, project);
  writeTree(join(project, "shown"), Object.fromEntries(shown.map(({ path, code }) => [path, code])));
  const compilerOptions = {
    paths: sourcePaths(),
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

test.each(samples)(
  "the code at $document:$line runs, and prints what is shown",
  ({ document, file, code, shown }) => {
    const cwd = makeProject();
    const home = join(cwd, "home");
    mkdirSync(home);
    const env = { ...process.env, HOME: home };
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd,
      env,
      encoding: "utf8",
      input: "",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    if (shown === undefined) return;
    const printed = stdout.replaceAll(home, "/home/ada").replaceAll(cwd, "/srv/app");
    if (process.env.METIER_SHOWN === "write" && !isAsShown(shown.trimEnd(), printed.trimEnd())) {
      writeOutput(document, code, printed);
    }
    expect(isAsShown(shown.trimEnd(), printed.trimEnd()) ? shown : printed).toBe(shown);
  },
);
