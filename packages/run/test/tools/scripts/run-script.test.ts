import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@metier/base/json";
import { chooseSandbox } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { withGrowingTime } from "../../../../../test/support/growing-time.ts";
import { createRunFolders, type RunFolders } from "../../../../../test/support/run-world.ts";
import { describeSandbox } from "../../../../../test/support/sandbox.ts";
import { toolContext } from "../../../../../test/support/tool-context.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { type RunScriptOptions, runScriptTool } from "../../../src/tools/scripts/run-script.ts";
import type { ToolOutput } from "../../../src/tools/tool.ts";

const FILES = {
  "scripts/echo.sh": 'printf "%s|" "$@"; cat',
  "scripts/array.bash": '[[ abc == a* ]] && echo "in bash"',
  "scripts/words.mjs": "console.log(process.argv.slice(2).length, process.cwd())",
  "scripts/old.cjs": "console.log(typeof require)",
  "scripts/sum.py":
    "import json, sys\nnumbers = json.load(sys.stdin)['numbers']\nprint(json.dumps({'sum': sum(numbers)}))",
  "scripts/typed.ts":
    "import { readFileSync } from 'node:fs';\ninterface Input { readonly city: string }\nconst { city }: Input = JSON.parse(readFileSync(0, 'utf8'));\nconsole.log('Hello ' + city);",
  "scripts/tagged": "#!/usr/bin/env -S node --no-warnings\nconsole.log('by its first line')",
  "scripts/env": "#!/usr/bin/env -S GREETING=hi sh\necho $GREETING",
  "scripts/plain": "echo nothing says what runs me",
  "scripts/write.sh": 'echo kept > "$METIER_WORK_DIR/kept"; echo no > here || exit 3',
  "scripts/both.sh": "echo out; echo err >&2; exit 7",
  "scripts/sleep.sh": "echo begun; sleep 1000",
  "scripts/flood.py": "print('x' * 3_000_000 + 'the end')",
  "scripts/plain-metadata.py": '# /// script\n# requires-python = ">=3.6"\n# ///\nprint("ran on python3")',
  "scripts/future.py": '# /// script\n# requires-python = ">=4.2"\n# ///\nprint("ran")',
  "scripts/needs.py": '# /// script\n# dependencies = ["requests<3", "rich"]\n# ///\nprint("ran")',
  "scripts/lint": "#!/usr/bin/env -S no-such-tool-x check\n",
  "scripts/a b;c.sh": "echo odd name",
  "SKILL.md": "---\nname: pdf\n---\n",
};

const NO_OTHERS: Pick<RunScriptOptions, "others" | "open"> = {
  others: () => [],
  open: async () => ({ ok: false, message: "There are no others." }),
};

async function open(
  timeoutMs = 60_000,
): Promise<{ folders: RunFolders; call(input: Record<string, Json>): Promise<ToolOutput> }> {
  const folders = createRunFolders();
  folders.write(
    Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`skills/pdf/${path}`, text])),
  );
  const { sandbox } = await chooseSandbox({ backend: "auto" });
  const { signal } = new AbortController();
  const world = folders.world();
  const context = toolContext({ world, signal, sandbox });
  const tool = runScriptTool({ ...NO_OTHERS, timeoutMs, own: "pdf" });
  return { folders, call: (input) => tool.execute(input, context) };
}

const call = async (input: Record<string, Json>): Promise<ToolOutput> => (await open()).call(input);

describeSandbox("run_script", () => {
  verifies([137], "gives arguments as they are, without a shell, and standard input", async () => {
    const args = ["a b", "$(id)", "; exit 9", "--flag=ä\n", "", "'\"\\"];
    const { text, isError } = await call({ script: "scripts/echo.sh", args, stdin: "from standard input" });
    expect(isError).toBe(false);
    expect(text).toContain(`${args.join("|")}|from standard input`);
  });

  test.each([
    ["scripts/array.bash", "in bash"],
    ["scripts/words.mjs", /0 .+\/pdf/],
    ["scripts/old.cjs", "function"],
    ["scripts/tagged", "by its first line"],
    ["scripts/env", "hi"],
    ["scripts/plain-metadata.py", "ran on python3"],
    ["./scripts/a b;c.sh", "odd name"],
  ])(
    "chooses the interpreter by ending or by first line, and starts in the skill's folder: %s",
    async (script, expected) => {
      expect((await call({ script })).text).toMatch(expected);
    },
  );

  test("gives any JSON value as JSON, and marks output that is JSON", async () => {
    expect(await call({ script: "scripts/sum.py", stdin: { numbers: [1, 2, 39] } })).toEqual({
      isError: false,
      text: 'Exit code 0.\nstdout (JSON):\n{"sum": 42}',
    });
    expect((await call({ script: "scripts/typed.ts", stdin: { city: "Oslo" } })).text).toBe(
      "Exit code 0.\nstdout:\nHello Oslo",
    );
    expect((await call({ script: "scripts/echo.sh", stdin: null })).text).toContain("null");
    expect((await call({ script: "scripts/echo.sh", stdin: "x".repeat(9_000_000) })).text).toMatch(
      /`stdin` has 9000000 bytes; the limit is 8388608/,
    );
  });

  test("keeps exit code and both streams", async () => {
    const { text, isError } = await call({ script: "scripts/both.sh" });
    expect(isError).toBe(true);
    expect(text).toBe("Exit code 7.\nstdout:\nout\nstderr:\nerr");
  });

  test("can write to the work folder, and not to the skill's", async () => {
    const { folders, call: run } = await open();
    const { text } = await run({ script: "scripts/write.sh" });
    expect(text).toContain("Exit code 3");
    expect(existsSync(join(folders.work, "kept"))).toBe(true);
    expect(existsSync(join(folders.skill, "here"))).toBe(false);
  });

  test("is stopped after its time, with what it had written so far", async () => {
    const { outcome, timeoutMs } = await withGrowingTime(
      async (time) => (await open(time)).call({ script: "scripts/sleep.sh" }),
      ({ text }) => text.includes("begun"),
    );
    expect(outcome.isError).toBe(true);
    expect(outcome.text).toMatch(
      new RegExp(`timed out after ${timeoutMs} ms.*\`skills\\.script-timeout-ms\`.*begun`, "s"),
    );
  });

  test("pages a long output to a file, whole", async () => {
    const { folders, call: run } = await open();
    const { text } = await run({ script: "scripts/flood.py" });
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/xthe end$/);
    const whole = readFileSync(join(folders.work, "output", "1-stdout.txt"), "utf8");
    expect(whole).toBe(`${"x".repeat(3_000_000)}the end\n`);
  });

  test("says what runs a script that nothing says it for", async () => {
    const { text, isError } = await call({ script: "scripts/plain" });
    expect([isError, text.includes("#!/usr/bin/env")]).toEqual([true, true]);
  });
});

describeSandbox("what a script needs", () => {
  verifies([99], "is named, with how to get it, when uv is not there", async () => {
    const { text, isError } = await call({ script: "scripts/needs.py" });
    expect(isError).toBe(true);
    expect(text).toContain(
      '`scripts/needs.py` needs `requests<3`, `rich`, which `uv` would install, but the sandbox has no `uv`. Install it (https://docs.astral.sh/uv/); if it is not below `/usr`, add it to your config: `[sandbox] programs = ["uv"]`. `metier doctor` lists the programs in the sandbox.',
    );
    expect(text).not.toContain("\nran");
  });

  test("is another Python", async () => {
    const { text, isError } = await call({ script: "scripts/future.py" });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /`scripts\/future\.py` sets `requires-python = ">=4\.2"`, but the sandbox has 3\.\d+\.\d+\./,
    );
  });

  test("is a program that is not in the sandbox", async () => {
    const { text, isError } = await call({ script: "scripts/lint" });
    expect([isError, text.includes('`[sandbox] programs = ["no-such-tool-x"]`')]).toEqual([true, true]);
  });
});

describeSandbox("which files are scripts", () => {
  test.each([
    "../outside/secret.sh",
    "/bin/sh",
    "scripts/../../outside/secret.sh",
    "scripts",
    "scripts/",
    ".",
    "scripts/none.sh",
    "scripts\\echo.sh",
    "scripts/%2e%2e/echo.sh",
    "scripts/echo.sh\0",
    "C:/echo.sh",
  ])("not %j", async (script) => {
    const { text, isError } = await call({ script });
    expect(isError).toBe(true);
    expect(text).not.toContain("Exit code");
  });

  test("not a link that leads out, nor a pipe", async () => {
    const { folders, call: run } = await open();
    folders.write({ "outside/secret.sh": "echo outside" });
    symlinkSync(join(folders.root, "outside", "secret.sh"), join(folders.skill, "link.sh"));
    symlinkSync(join(folders.root, "outside"), join(folders.skill, "away"));
    symlinkSync("scripts/both.sh", join(folders.skill, "inside.sh"));
    execFileSync("mkfifo", [join(folders.skill, "pipe.sh")]);
    for (const script of ["link.sh", "away/secret.sh", "pipe.sh"]) {
      const { text, isError } = await run({ script });
      expect([isError, text.includes("Exit code")], script).toEqual([true, false]);
    }
    expect((await run({ script: "inside.sh" })).text).toContain("Exit code 7.");
  });
});

describe("run_script without a sandbox", () => {
  test("runs nothing and says why", async () => {
    const folders = createRunFolders();
    folders.write({ "skills/pdf/a.sh": "echo ran" });
    const { signal } = new AbortController();
    const context = toolContext({ world: folders.world(), signal });
    const tool = runScriptTool({ ...NO_OTHERS, timeoutMs: 1000, own: "pdf" });
    expect((await tool.execute({ script: "a.sh" }, context)).isError).toBe(true);
  });

  test("runs nothing but shell scripts in a sandbox without programs", async () => {
    const folders = createRunFolders();
    folders.write({ "skills/pdf/a.py": "print('ran')" });
    const { signal } = new AbortController();
    const sandbox = {
      backend: "just-bash",
      runsPrograms: false,
      run: () => Promise.reject(new Error("ran")),
    } as const;
    const context = toolContext({ world: folders.world(), signal, sandbox });
    const tool = runScriptTool({ ...NO_OTHERS, timeoutMs: 1000, own: "pdf" });
    const { text } = await tool.execute({ script: "a.py" }, context);
    expect(text).toContain(
      "`a.py` needs `python3`, but the sandbox `just-bash` is a shell without programs.",
    );
  });
});

describe("whose script", () => {
  test("need not be said for the skill that runs, and must be said elsewhere", () => {
    const alone = runScriptTool({ ...NO_OTHERS, timeoutMs: 1, own: "pdf" });
    expect(alone.inputSchema).toMatchObject({ required: ["script"] });
    expect(alone.inputSchema.properties).not.toHaveProperty("skill");
    const beside = runScriptTool({ ...NO_OTHERS, timeoutMs: 1, own: "pdf", others: () => ["mail"] });
    expect(beside.inputSchema).toMatchObject({
      required: ["script"],
      properties: { skill: { enum: ["pdf", "mail"] } },
    });
    const chat = runScriptTool({ ...NO_OTHERS, timeoutMs: 1, others: () => ["mail"] });
    expect(chat.inputSchema).toMatchObject({
      required: ["skill", "script"],
      properties: { skill: { enum: ["mail"] } },
    });
  });

  test("must be one of those that may be read here", async () => {
    const { signal } = new AbortController();
    const context = toolContext({ world: createRunFolders().world(), signal });
    const tool = runScriptTool({ ...NO_OTHERS, timeoutMs: 1, others: () => ["mail"] });
    const told = async (input: Record<string, Json>): Promise<string> =>
      (await tool.execute(input, context)).text;
    expect(await told({ skill: "mial", script: "a.sh" })).toContain("Did you mean `mail`?");
    expect(await told({ script: "a.sh" })).toContain("`skill` must say whose script it is");
    expect(await told({ skill: "mail", script: "a.sh" })).toBe("There are no others.");
  });
});
