import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseSandbox } from "../../../src/sandbox/choose-sandbox.ts";
import type { World } from "../../../src/sandbox/world.ts";
import { runScriptTool } from "../../../src/tools/run-script.ts";
import type { ToolContext, ToolOutput } from "../../../src/tools/tool.ts";
import { describeSandbox } from "../../support/sandbox.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

const FILES = {
  "skill/scripts/echo.sh": 'printf "%s|" "$@"; cat',
  "skill/scripts/words.mjs": "console.log(process.argv.slice(2).length, process.cwd())",
  "skill/scripts/tagged": "#!/usr/bin/env -S node --no-warnings\nconsole.log('by its first line')",
  "skill/scripts/plain": "echo nothing says what runs me",
  "skill/scripts/write.sh": 'echo kept > "$METIER_WORK_DIR/kept"; echo no > here || exit 3',
  "outside/secret.sh": "echo outside",
  "work/.keep": "",
};

async function createContext(): Promise<ToolContext> {
  const root = temporaryFolder();
  writeTree(root, FILES);
  const [skillDir, workDir] = [join(root, "skill"), join(root, "work")];
  const world: World = {
    cwd: workDir,
    workDir,
    skillDir,
    readable: [workDir, skillDir],
    writable: [workDir],
    masked: [],
    protectedPaths: [],
  };
  const { sandbox } = await chooseSandbox({ backend: "auto" });
  const { signal } = new AbortController();
  return { callId: "1", world, network: [], env: {}, signal, ...(sandbox && { sandbox }) };
}

async function call(input: Readonly<Record<string, string | string[]>>): Promise<ToolOutput> {
  return runScriptTool(10_000).execute(input, await createContext());
}

describeSandbox("run_script", () => {
  test("gives arguments as they are, without a shell, and standard input", async () => {
    const { text, isError } = await call({
      script: "scripts/echo.sh",
      args: ["a b", "$(id)", "; exit 9"],
      stdin: "from standard input",
    });
    expect(isError).toBe(false);
    expect(text).toContain("a b|$(id)|; exit 9|from standard input");
  });

  test("chooses the interpreter by ending or by first line, and starts in the skill's folder", async () => {
    expect((await call({ script: "scripts/words.mjs", args: ["x", "y"] })).text).toMatch(/2 \S+\/skill/);
    expect((await call({ script: "scripts/tagged" })).text).toContain("by its first line");
    const unknown = await call({ script: "scripts/plain" });
    expect(unknown.isError).toBe(true);
    expect(unknown.text).toContain("#!/usr/bin/env");
  });

  test("can write to the work folder, and not to the skill's", async () => {
    const { text, isError } = await call({ script: "scripts/write.sh" });
    expect([isError, text.includes("Exit code 3")]).toEqual([true, true]);
  });

  test.each([
    "../outside/secret.sh",
    "/bin/sh",
    "scripts/../../outside/secret.sh",
    "scripts",
    "scripts/none.sh",
  ])("runs nothing but files of the skill: %s", async (script) => {
    const { text, isError } = await call({ script });
    expect(isError).toBe(true);
    expect(text).not.toContain("stdout");
  });
});

describe("run_script without a sandbox", () => {
  test("runs nothing and says why", async () => {
    const { sandbox: _, ...context } = await createContext();
    const { isError } = await runScriptTool(1000).execute({ script: "scripts/echo.sh" }, context);
    expect(isError).toBe(true);
  });
});
