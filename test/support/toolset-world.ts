/** A skill with toolsets in a temporary folder, opened without a sandbox: what holds them is tested elsewhere. */
import type { ToolContext, ToolInput, ToolOutput } from "@metier/run";
import { type OpenedToolsets, openToolsets, type ToolsetsInput } from "@metier/run";
import { createUnsandboxed } from "@metier/sandbox";
import { onTestFinished } from "vitest";
import { createRunFolders, type RunFolders } from "./run-world.ts";
import { toolContext } from "./tool-context.ts";

export interface ToolsetWorld extends RunFolders {
  /** Files of the skill. */
  code(files: Readonly<Record<string, string>>): void;
  open(entries: readonly string[], given?: Partial<ToolsetsInput>): Promise<OpenedTools>;
}

export interface OpenedTools extends OpenedToolsets {
  /** By its own name, as the run would call it. */
  call(tool: string, input?: ToolInput, given?: Partial<ToolContext>): Promise<ToolOutput>;
}

export function createToolsetWorld(): ToolsetWorld {
  const folders = createRunFolders();
  const world = folders.world();
  return {
    ...folders,
    code: (files) =>
      folders.write(
        Object.fromEntries(Object.entries(files).map(([path, text]) => [`skills/pdf/${path}`, text])),
      ),
    async open(entries, given = {}) {
      const opened = await openToolsets({
        skill: "pdf",
        path: "SKILL.md",
        folder: folders.skill,
        entries,
        sandbox: createUnsandboxed(),
        world,
        env: {},
        times: { loadMs: 30_000, callMs: 30_000 },
        lifetimeMs: 300_000,
        isNamespaced: true,
        taken: [],
        mayLoad: () => true,
        ...given,
      });
      onTestFinished(() => opened.close());
      return {
        ...opened,
        call(name, input = {}, context = {}) {
          const tool = opened.tools.find(({ id }) => id === `pdf:${name}`);
          if (!tool) throw new Error(`There is no tool ${name}: ${JSON.stringify(opened.diagnostics)}`);
          return tool.execute(input, toolContext({ world, ...context }));
        },
      };
    },
  };
}

/** The text of a module whose `Tools` has these tools, each given as the body of its `run`. */
export function toolset(runs: Readonly<Record<string, string>>, before = ""): string {
  const tools = Object.entries(runs).map(
    ([name, body]) =>
      `${name}: { description: "The ${name} tool.", input: { type: "object" }, async run(input, context) { ${body} } },`,
  );
  return `import { defineToolset } from "metier/toolset";\n${before}\nexport const Tools = defineToolset({ tools: {\n${tools.join("\n")}\n} });\n`;
}

/** One module with these tools, opened. */
export async function openModule(
  runs: Readonly<Record<string, string>>,
  before = "",
  given: Partial<ToolsetsInput> = {},
): Promise<OpenedTools> {
  const world = createToolsetWorld();
  world.code({ "a.js": toolset(runs, before) });
  return world.open(["a:Tools"], given);
}

/** What a module keeps between calls of one process. */
export const COUNTING = "let calls = 0;";
export const COUNT = "return ++calls";
