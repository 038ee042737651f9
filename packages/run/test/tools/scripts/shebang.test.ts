import { describe, expect, test } from "vitest";
import { readShebang } from "../../../src/tools/scripts/choose-interpreter.ts";

describe("the first line of a script", () => {
  test.each([
    ["#!/bin/sh", "sh", ["sh"]],
    ["#! /bin/bash -eu\r\necho", "bash", ["bash", "-eu"]],
    ["#!/usr/bin/env python3\nprint()", "python3", ["python3"]],
    ["#!/usr/bin/env -S node --no-warnings\n", "node", ["node", "--no-warnings"]],
    ["#!/usr/bin/env -Sdeno run --allow-read", "deno", ["deno", "run", "--allow-read"]],
    ["#!/usr/bin/env --split-string=bun run", "bun", ["bun", "run"]],
    ["#!/usr/bin/env -S uv run --script", "uv", ["uv", "run", "--script"]],
    ["#!/usr/bin/env -S uvx ruff check", "uvx", ["uvx", "ruff", "check"]],
    ["#!/usr/bin/env -S python3 -c 'a b'", "python3", ["python3", "-c", "a b"]],
    ["#!/opt/homebrew/bin/ruby -w", "ruby", ["ruby", "-w"]],
    ["\uFEFF#!/usr/bin/perl", "perl", ["perl"]],
  ])("%j starts a program by its name", (text, program, argv) => {
    expect(readShebang(text)).toEqual({ program, argv });
  });

  test("`env` is started where it has options or variables of its own", () => {
    expect(readShebang("#!/usr/bin/env -S -i LANG=C /opt/x/python3 -u")).toEqual({
      program: "python3",
      argv: ["env", "-i", "LANG=C", "python3", "-u"],
    });
  });

  test.each(["", "echo", " #!/bin/sh", "#!", "#!   ", "#!/usr/bin/env", "#!/usr/bin/env -S 'open", "#!/"])(
    "%j names no program",
    (text) => expect(readShebang(text)).toBeUndefined(),
  );
});
