import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeDeclarations } from "../../../scripts/build/declarations.mjs";
import { ROOT } from "../../support/repository.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

const USE = `
import { createMetier, type Skill } from "metier";
const metier = await createMetier({});
export const skills: readonly Skill[] = metier.list();
// @ts-expect-error: a list is no number
export const wrong: number = metier.list();
`;

test("the public types stand on their own, without the packages that are bundled", () => {
  const project = temporaryFolder();
  writeDeclarations(join(project, "types"));
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    paths: { metier: ["./types/index.d.ts"] },
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  writeTree(project, {
    "package.json": '{ "type": "module" }',
    "use.ts": USE,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["use.ts"] }),
  });
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" });
  expect(stdout).toBe("");
});
