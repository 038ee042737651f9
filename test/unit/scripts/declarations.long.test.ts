import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CJS, declarationOf, writeDeclarations } from "../../../scripts/build/declarations.mjs";
import { readParts } from "../../../scripts/build/declared-parts.mjs";
import { LIBRARY_ENTRIES } from "../../../scripts/build/library-entries.mjs";
import { linkPackages } from "../../support/link-packages.ts";
import { filesUnder, ROOT, readRepositoryFile } from "../../support/repository.ts";
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
const run = metier.start({ skill: "a" });
export const texts: string[] = [];
for await (const event of run.events) {
  if (event.type === "tool-called") texts.push(event.tool, event.decision);
  if (event.type === "tool-finished" && event.isError) texts.push(event.text);
  // @ts-expect-error: there is no such event
  if (event.type === "tool-forgotten") texts.push("");
}
for await (const event of run.clientEvents()) if (event.type === "text-delta") texts.push(event.text);
// @ts-expect-error: a list is no number
export const wrong: number = metier.list();
`;

/** What the compiler says of programs that see nothing of the library but its published declarations. */
function compile(programs: Readonly<Record<string, string>>, options: object = {}): string {
  const project = temporaryFolder();
  writeDeclarations(join(project, "types"));
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024"],
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
    ...options,
  };
  writeTree(project, {
    "package.json": '{ "type": "module" }',
    ...programs,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: Object.keys(programs) }),
  });
  for (const program of Object.values(programs)) linkPackages(program.replace(/ from "metier/g, ""), project);
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" }).stdout;
}

test("the public types stand on their own, without the packages that are bundled", () => {
  expect(compile({ "use.ts": USE })).toBe("");
});

test("every example compiles against the public types", () => {
  const paths = filesUnder(["examples"], [".ts"]).filter((path) => path.split("/").length === 2);
  const programs = Object.fromEntries(paths.map((path) => [path, readRepositoryFile(path)]));
  // Declarations of other packages are theirs to check.
  expect(compile(programs, { skipLibCheck: true, allowImportingTsExtensions: true })).toBe("");
});

test("a type whose objects have comments between them is published whole", () => {
  const text =
    "export type Answer = \n/** Yes. */\n{\n    readonly yes: true;\n}\n/** No. */\n | {\n    readonly no: true;\n};\nexport interface Next {\n}\n";
  const { declared } = readParts(text);
  expect([...declared.keys()]).toEqual(["Answer", "Next"]);
  expect(declared.get("Answer")?.[0]).toContain("readonly no: true;");
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
