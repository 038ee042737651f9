import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CJS, declarationOf, writeDeclarations } from "../../../scripts/build/declarations.mjs";
import { LIBRARY_ENTRIES } from "../../../scripts/build/library-entries.mjs";
import { ROOT, readRepositoryFile } from "../../support/repository.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

const USE = `
import { createMetier, type Skill } from "metier";
import { type AiSdkSkills, aiSdkSkills } from "metier/ai-sdk";
import { mountClaudeSkills } from "metier/claude";
import { openAiAgentSkills } from "metier/openai";
import { createMcpServer } from "metier/mcp";
import { SkillTestHarness } from "metier/testing";
import type { CapabilityProvider } from "metier/capabilities";
import { SkillManager } from "metier/compat";
import type { InstallReport } from "metier/install";
import { publishSkills } from "metier/publish";
import type { SkillStore } from "metier/run";
import { createConversation } from "metier/skills";
const metier = await createMetier({});
export const skills: readonly Skill[] = metier.list();
export const adapted: AiSdkSkills = await aiSdkSkills(metier);
export const others = [mountClaudeSkills, openAiAgentSkills, createMcpServer, SkillTestHarness, SkillManager, publishSkills, createConversation];
export type Others = [CapabilityProvider, InstallReport, SkillStore];
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
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    paths: Object.fromEntries(
      Object.entries(LIBRARY_ENTRIES).map(([name, source]) => [
        name === "index" ? "metier" : `metier/${name}`,
        [`./types/${declarationOf(source)}`],
      ]),
    ),
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

test("`package.json` and `tsconfig.json` lead to every entry of the library", () => {
  const { exports } = JSON.parse(readRepositoryFile("packages/metier/package.json")) as {
    readonly exports: Readonly<Record<string, unknown>>;
  };
  const { compilerOptions } = JSON.parse(readRepositoryFile("tsconfig.json")) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
  };
  for (const [name, source] of Object.entries(LIBRARY_ENTRIES)) {
    const subpath = name === "index" ? "" : `/${name}`;
    expect(exports[`.${subpath}`]).toEqual({
      types: {
        require: `./dist/types/${CJS}/${declarationOf(source)}`,
        default: `./dist/types/${declarationOf(source)}`,
      },
      default: `./dist/${name}.js`,
    });
    expect(compilerOptions.paths[`metier${subpath}`]).toEqual([`./${source}`]);
  }
});
