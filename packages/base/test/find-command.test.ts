import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandFinder } from "../src/programs.ts";

const posix = process.platform !== "win32";

/** A folder with executable files of these names. */
function makeCommands(...names: readonly string[]): string {
  const folder = temporaryFolder();
  writeTree(folder, Object.fromEntries(names.map((name) => [name, "#!/bin/sh\n"])));
  for (const name of names) chmodSync(join(folder, name), 0o755);
  return folder;
}

describe.runIf(posix)("a command", () => {
  verifies([95, "case 47"], "is found in the first folder of PATH that has it", () => {
    const [first, second] = [makeCommands("gh"), makeCommands("gh", "docker")];
    const find = createCommandFinder({ PATH: [first, second].join(delimiter) });
    expect(find("gh")).toBe(join(first, "gh"));
    expect(find("docker")).toBe(join(second, "docker"));
    expect(find("kubectl")).toBeUndefined();
  });

  test("is found over a link, and not when the link dangles", () => {
    const folder = makeCommands("real");
    symlinkSync("real", join(folder, "linked"));
    symlinkSync("nowhere", join(folder, "dangling"));
    const find = createCommandFinder({ PATH: folder });
    expect(find("linked")).toBe(join(folder, "linked"));
    expect(find("dangling")).toBeUndefined();
  });

  test("is an executable file: a folder or a plain file of that name is none", () => {
    const folder = makeCommands("plain");
    chmodSync(join(folder, "plain"), 0o644);
    mkdirSync(join(folder, "folder"));
    const find = createCommandFinder({ PATH: folder });
    expect(find("plain")).toBeUndefined();
    expect(find("folder")).toBeUndefined();
  });

  test("is looked up once per finder", () => {
    const folder = makeCommands("gh");
    const find = createCommandFinder({ PATH: folder });
    expect(find("gh")).toBe(join(folder, "gh"));
    rmSync(join(folder, "gh"));
    expect(find("gh")).toBe(join(folder, "gh"));
    expect(createCommandFinder({ PATH: folder })("gh")).toBeUndefined();
  });

  test("is not taken from a relative or empty entry of PATH", () => {
    const folder = makeCommands("gh");
    const path = ["", ".", relative(process.cwd(), folder), ""].join(delimiter);
    expect(createCommandFinder({ PATH: path })("gh")).toBeUndefined();
    expect(createCommandFinder({})("gh")).toBeUndefined();
  });

  verifies(
    "case 48",
    "with special characters in its name is just not there, and nothing is executed",
    () => {
      const folder = makeCommands("gh", "-rf");
      const marker = join(temporaryFolder(), "marker");
      const find = createCommandFinder({ PATH: folder });
      const names = [
        "",
        " ",
        ".",
        "..",
        "-rf",
        "./gh",
        `${folder}/gh`,
        "../gh",
        "gh\0",
        "gh\n",
        "g h",
        "a\\b",
      ];
      const attacks = [
        `gh; touch ${marker}`,
        "$(touch\tx)",
        "$IFS",
        "`id`",
        "gh|id",
        "gh&&id",
        "*",
        "x".repeat(5_000),
      ];
      for (const name of [...names, ...attacks]) expect(find(name), JSON.stringify(name)).toBeUndefined();
      expect(existsSync(marker)).toBe(false);
    },
  );

  test("may have a name with dots, pluses and underscores", () => {
    const find = createCommandFinder({ PATH: makeCommands("python3.11", "g++", "my_tool", "__proto__") });
    for (const name of ["python3.11", "g++", "my_tool", "__proto__"]) expect(find(name)).toBeDefined();
  });
});

describe.runIf(posix)("on Windows a command", () => {
  const folder = (): string => {
    const made = temporaryFolder();
    writeTree(made, { "gh.exe": "", "tool.cmd": "", noending: "" });
    return made;
  };

  test("has one of the endings of PATHEXT, written or not", () => {
    const path = folder();
    const find = createCommandFinder({ Path: `;"${path}"`, PathExt: ".EXE;.CMD" }, "win32");
    expect(find("gh")).toBe(join(path, "gh.exe"));
    expect(find("gh.exe")).toBe(join(path, "gh.exe"));
    expect(find("tool")).toBe(join(path, "tool.cmd"));
    expect(find("noending")).toBeUndefined();
    expect(find("C:gh")).toBeUndefined();
  });

  test("has the usual endings when PATHEXT is not set", () => {
    const path = folder();
    expect(createCommandFinder({ PATH: path }, "win32")("tool")).toBe(join(path, "tool.cmd"));
  });
});
