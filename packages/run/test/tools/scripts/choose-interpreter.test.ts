import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { chooseInterpreter } from "../../../src/tools/scripts/choose-interpreter.ts";

const NEEDS = '# /// script\n# dependencies = ["requests<3"]\n# ///\n';
const NEEDS_NOTHING = '# /// script\n# requires-python = ">=3.8"\n# dependencies = []\n# ///\n';

const argvOf = async (script: string, text = "", hasPackages = false): Promise<readonly string[]> => {
  const chosen = await chooseInterpreter(script, text, hasPackages);
  return chosen.ok ? chosen.value.argv : [chosen.refusal];
};

describe("what runs a script", () => {
  const typed = ["node", "--disable-warning=ExperimentalWarning"];
  test.each([
    ["a.sh", ["sh"]],
    ["a.bash", ["bash"]],
    ["a.py", ["python3"]],
    ["A.PY", ["python3"]],
    ["a.js", ["node"]],
    ["a.mjs", ["node"]],
    ["a.cjs", ["node"]],
    ["a.ts", typed],
    ["a.mts", typed],
    ["a.cts", typed],
    ["a.rb", ["ruby"]],
    ["a.pl", ["perl"]],
  ])("%s by its ending", async (script, argv) => {
    expect(await argvOf(script)).toEqual(argv);
  });

  test("its first line wins over its ending", async () => {
    expect(await argvOf("a.ts", "#!/usr/bin/env -S deno run --allow-read\n")).toEqual([
      "deno",
      "run",
      "--allow-read",
    ]);
    expect(await argvOf("a.ts", "#!/usr/bin/env bun\n")).toEqual(["bun"]);
    expect(await argvOf("a", "#!/usr/bin/env python\n")).toEqual(["python3"]);
    expect(await argvOf("a", "#!/usr/bin/nodejs --x\n")).toEqual(["node", "--x"]);
    expect(await argvOf("a", "#!/bin/constructor\n")).toEqual(["constructor"]);
  });

  test.each(["a", "a.txt", "a.constructor", "a.exe", ".sh"])("nothing says it for %s", async (script) => {
    const chosen = await chooseInterpreter(script, "text");
    expect(chosen).toEqual({ ok: false, refusal: expect.stringContaining("#!/usr/bin/env python3") });
  });
});

describe("a Python script with metadata", () => {
  verifies([99], "is run by uv when it names packages, and by Python when it names none", async () => {
    expect(await argvOf("a.py", NEEDS)).toEqual(["uv", "run", "--script"]);
    expect(await argvOf("a", `#!/usr/bin/env python3\n${NEEDS}`)).toEqual(["uv", "run", "--script"]);
    expect(await argvOf("a.py", NEEDS_NOTHING)).toEqual(["python3"]);
    expect(await argvOf("a", `#!/usr/bin/python3 -u\n${NEEDS_NOTHING}`)).toEqual(["python3", "-u"]);
  });

  test("is run by Python although it names uv, when uv would bring nothing", async () => {
    const line = "#!/usr/bin/env -S uv run --script\n";
    expect(await argvOf("a", line)).toEqual(["python3"]);
    expect(await argvOf("a", line + NEEDS_NOTHING)).toEqual(["python3"]);
    expect(await argvOf("a", line + NEEDS)).toEqual(["uv", "run", "--script"]);
    const other = ["uv", "run", "--with", "rich"];
    expect(await argvOf("a", `#!/usr/bin/env -S ${other.join(" ")}\n`)).toEqual(other);
  });

  test("is run by Python when the packages of its skill are installed", async () => {
    expect(await argvOf("a.py", NEEDS, true)).toEqual(["python3"]);
  });

  test("is not run when the metadata cannot be read", async () => {
    const chosen = await chooseInterpreter("a.py", "# /// script\n# x = \n# ///\n");
    expect(chosen).toEqual({
      ok: false,
      refusal: expect.stringMatching(/inline metadata of `a\.py`.*not valid TOML/),
    });
  });

  test("is not looked at in other languages", async () => {
    expect(await argvOf("a.sh", NEEDS)).toEqual(["sh"]);
  });
});
