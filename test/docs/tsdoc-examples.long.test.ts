/** What an editor shows on the names that people touch first has an example, and every such example compiles. */
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkPackages } from "../support/link-packages.ts";
import { filesUnder, ROOT, readRepositoryFile } from "../support/repository.ts";
import { temporaryFolder } from "../support/temporary.ts";

const FIRST =
  "createMetier Metier MetierOptions for MetierView ViewOptions RunRequest RunResult RunHandle RunEvent RunLimits Caller chat Chat ChatOptions ChatTurn defineTool Tool ToolContext defineSkill GivenSkill SkillSource Skill SkillManifest Catalog offerSkills SkillOffer RunStore Runs createScriptedModel createSkillHarness createMcpServer plainSkills aiSdkSkills claudeSkills openAiAgentSkills openAiChatSkills openAiResponsesSkills langChainSkills mastraSkills".split(
    " ",
  );

interface Example {
  readonly name: string;
  readonly code: string;
}

const COMMENTED =
  /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\s*\n\s*(?:export )?(?:declare |async |readonly )*(?:(?:function|class|interface|type|const) )?(\w+)/g;
const CODE = /@example\s*\n\s*\* ```ts\n([\s\S]*?)\s*\* ```/;

function readExamples(): readonly Example[] {
  const sources = filesUnder(["packages"], [".ts"]).filter((path) => path.includes("/src/"));
  return sources.flatMap((path) =>
    [...readRepositoryFile(path).matchAll(COMMENTED)].flatMap(([, comment = "", name = ""]) => {
      const [, code] = CODE.exec(comment) ?? [];
      return code === undefined ? [] : [{ name, code: code.replace(/^\s*\* ?/gm, "") }];
    }),
  );
}

/** Where a name comes from that an example uses without importing it: an editor shows it beside the reader's own program. */
function readPublicNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const reports = readdirSync(join(ROOT, "test/pins/api")).sort();
  for (const report of ["metier.txt", ...reports]) {
    const subpath = report === "metier.txt" ? "metier" : `metier/${report.replace(".txt", "")}`;
    for (const [, name = ""] of readRepositoryFile(`test/pins/api/${report}`).matchAll(
      /^export (?:declare )?\w+ (\w+)/gm,
    ))
      if (!names.has(name)) names.set(name, subpath);
  }
  return names;
}

const HOSTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openAiAgentSkills: { Agent: "@openai/agents", run: "@openai/agents" },
  mastraSkills: { Agent: "@mastra/core/agent" },
  aiSdkSkills: { generateText: "ai", isStepCount: "ai" },
  claudeSkills: { z: "zod" },
  defineTool: { z: "zod" },
  withJsonSchema: { toJsonSchema: "@valibot/to-json-schema" },
};

/** What is the reader's own in the examples. */
const READERS: Readonly<Record<string, string>> = {
  metier: 'import("metier").Metier',
  chat: 'import("metier").Chat',
  store: 'import("metier").ChatStore',
  schema: 'ReturnType<typeof import("valibot")["string"]>',
  message: "string",
  report: "string",
  prompt: "string",
  id: "string",
  rules: "string",
  model: 'import("ai").LanguageModel',
  ownTool: "never",
  ownTools: "never[]",
  messages: "object[]",
  database:
    "{ [Name in 'saveRun' | 'saveEvent' | 'findRuns' | 'findEvents' | 'deleteRuns' | 'orders']: (...given: unknown[]) => never }",
  db: "{ skills(): Promise<{ id: string; name: string; etag: string }[]>; file(id: string, path: string): Promise<{ bytes: Uint8Array }> }",
  client:
    "{ responses: { create(request: object): Promise<{ output: unknown[] }> }; chat: { completions: { create(request: object): Promise<{ choices: { message: { tool_calls?: unknown[] } }[] }> } } }",
  createSdkMcpServer: "(server: object) => object",
  query: "(request: object) => object",
};

function toProgram({ name, code }: Example, names: ReadonlyMap<string, string>): string {
  const imports = code.match(/^import .*$/gm) ?? [];
  const body = code.replace(/^import .*$/gm, "");
  const known = (word: string): boolean =>
    new RegExp(
      `\\b(?:const|function) ${word}\\b|import \\{[^}]*\\b${word}\\b|[{,] ${word}\\b[^=]*\\} =`,
    ).test(code);
  const words = new Set(
    (body.replace(/"[^"]*"|\/\/.*$/gm, "").match(/(?<![.\w])[A-Za-z]\w*(?!\w*:)/g) ?? []).filter(
      (word) => !known(word),
    ),
  );
  const taken = [...words].flatMap((word) => {
    const from = HOSTS[name]?.[word] ?? (READERS[word] ? undefined : names.get(word));
    return from === undefined ? [] : [`import { ${word} } from ${JSON.stringify(from)};`];
  });
  const own = [...words].filter((word) => READERS[word] !== undefined && HOSTS[name]?.[word] === undefined);
  const declared = own.map((word) => `declare const ${word}: ${READERS[word]};`);
  return `${[...imports, ...taken, ...declared].join("\n")}\nexport async function example() {\n${body}\n}\n`;
}

test("[L12] the names that people touch first have an example", () => {
  const shown = readExamples().map(({ name }) => name);
  expect(FIRST.length).toBeGreaterThanOrEqual(30);
  expect(FIRST.filter((name) => !shown.includes(name))).toEqual([]);
});

test("[L12] every example that an editor shows compiles", () => {
  const project = temporaryFolder();
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  const names = readPublicNames();
  for (const [index, example] of readExamples().entries()) {
    const program = toProgram(example, names);
    linkPackages(`${program} from "valibot" from "ai"`, project);
    writeFileSync(join(project, `${index}-${example.name}.ts`), program);
  }
  const { compilerOptions } = JSON.parse(readRepositoryFile("tsconfig.json")) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
  };
  const paths = Object.entries(compilerOptions.paths).map(([name, [path = ""]]) => [
    name,
    [join(ROOT, path)],
  ]);
  const options = {
    paths: Object.fromEntries(paths),
    typeRoots: [join(ROOT, "node_modules/@types")],
    noUnusedLocals: false,
    noUnusedParameters: false,
    verbatimModuleSyntax: false,
    isolatedDeclarations: false,
  };
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions: options, include: ["*.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" });
  expect(stdout).toBe("");
});
