/** Help, other names of commands, and what a mistyped command is answered with. */
import { COMMANDS } from "@metier/cli";
import { beforeEach, describe, expect, test } from "vitest";
import { createWorld, type World } from "../../../test/support/world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});

const COMMON = ["cwd", "home", "config", "preset", "path", "profile", "json"];

describe("help", () => {
  const pages = [
    [],
    ["skill"],
    ["skill", "manage"],
    ["skill", "manage", "update"],
    ["tour"],
    ...COMMANDS.map(({ name }) => [name]),
  ];

  test.each(pages.map((page) => [page.join(" "), page] as const))(
    "[U11] `metier %s --help` fits 80 columns",
    async (_, page) => {
      const { code, stdout, stderr } = await world.cli(...page, "--help");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
      expect(stdout).not.toMatch(/ \n/);
      expect(stdout).toMatch(/Usage: metier /);
    },
  );

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "[U11] `metier %s --help` has each option once with its value, and points to the common ones",
    async (name, { flags, also, examples }) => {
      const { stdout } = await world.cli(name, "--help");
      for (const [flag, declared] of Object.entries(flags)) {
        const kebab = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        const label = declared.kind === "boolean" ? `--(?:\\[no-\\])?${kebab}` : `--${kebab} <[a-z-]+>`;
        expect(stdout.match(new RegExp(`^ {2}(?:-\\w, | {4})?${label}(?: |$)`, "gm")), flag).toHaveLength(1);
      }
      for (const flag of COMMON) expect(stdout).not.toMatch(new RegExp(`^ {2,6}--${flag}(?: <|  )`, "m"));
      expect(stdout).toContain(`Common options: ${COMMON.map((flag) => `--${flag}`).join(", ")}.`);
      for (const other of also) expect(stdout.split("\n")[0]).toMatch(new RegExp(`also: .*\\b${other}\\b`));
      expect(examples.length).toBeGreaterThan(0);
      expect(stdout).toContain(`Examples:\n  `);
    },
  );

  test("[U11] usage says which words stand behind a command", async () => {
    const usage = async (name: string): Promise<string | undefined> =>
      /Usage: (.*)/.exec((await world.cli(name, "--help")).stdout)?.[1];
    expect(await usage("run")).toBe("metier run <skill> [<task>...] [options]");
    expect(await usage("runs")).toBe("metier runs [<action>] [options]");
    expect(await usage("install")).toBe("metier install [<source>] [options]");
    expect(await usage("new")).toBe("metier new <name> [options]");
    expect(await usage("list")).toBe("metier list [options]");
  });

  test("a long example is one line for a shell", async () => {
    const { stdout } = await world.cli("mcp", "--help");
    expect(stdout.replace(/ \\\n +/g, " ")).toContain("--port 8080 --allow-host skills.example.org\n");
  });

  test("every name leads to the same page, before and behind the command", async () => {
    const { stdout } = await world.cli("list", "--help");
    for (const words of [
      ["ls", "-h"],
      ["help", "ls"],
      ["skill", "ls", "--help"],
      ["--json", "ls", "--help"],
    ])
      expect((await world.cli(...words)).stdout, words.join(" ")).toBe(stdout);
  });

  test("an option behind -- is an argument", async () => {
    expect((await world.cli("show", "--", "--help")).stdout).not.toContain("Usage:");
  });
});

describe("[U13] names that people try first", () => {
  test.each([
    ["add", "install"],
    ["ls", "list"],
    ["uninstall", "remove"],
    ["info", "show"],
    ["search", "find"],
    ["upgrade", "update"],
  ])("`%s` is `%s`", async (other, name) => {
    const pages = [await world.cli(other, "--help"), await world.cli(name, "--help")];
    expect(pages[0]?.stdout).toBe(pages[1]?.stdout);
    expect(pages[1]?.stdout).toContain(`(also: ${other})`);
    expect((await world.cli("help")).stdout).toContain(`(also: ${other})`);
  });

  test("they do what the command does", async () => {
    expect((await world.cli("ls")).stdout).toBe((await world.cli("list")).stdout);
    expect((await world.cli("info", "summarize-text")).stdout).toContain("summarize-text");
    expect((await world.cli("search", "summarize", "text", "--json")).code).toBe(0);
    expect((await world.cli("uninstall")).stderr).not.toContain("Unknown command");
  });

  test.each([
    ["serch", "search"],
    ["unistall", "uninstall"],
    ["uninstal", "uninstall"],
    ["isntall", "install"],
    ["lst", "list"],
    ["rm", "remove"],
    ["delete", "remove"],
    ["lint", "validate"],
    ["logs", "runs"],
    ["history", "runs"],
    ["create", "new"],
    ["upgrad", "upgrade"],
    ["settigns", "config"],
  ])("`%s` is answered with `%s`", async (typed, meant) => {
    const { code, stdout, stderr } = await world.cli(typed);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`error: Unknown command \`${typed}\`: did you mean \`${meant}\`?`);
  });

  test("what is like nothing gets no wrong suggestion, and cannot write to the terminal", async () => {
    expect((await world.cli("qqqqqq")).stderr).toContain("Unknown command `qqqqqq`.\n");
    expect((await world.cli("\u001b[31m")).stderr).not.toContain("\u001b");
    expect((await world.cli("constructor", "--help")).code).toBe(2);
    expect((await world.cli("--bogus", "--json")).json.error.message).toBe("Unknown option `--bogus`.");
  });

  test("a mistyped action names the nearest one", async () => {
    expect((await world.cli("runs", "shwo")).stderr).toContain("Did you mean `show`?");
  });
});

describe("[U11] a command line that cannot be understood is answered with how it is typed", () => {
  test.each([
    [["remove"], "Missing `<skill>`.", "Type `metier remove <skill>... [options]`"],
    [["uninstall"], "Missing `<skill>`.", "Type `metier remove <skill>... [options]`"],
    [["new"], "Missing `<name>`.", "Type `metier new <name> [options]`"],
    [["show", "a", "b"], "Unexpected argument `b`.", "Type `metier show [<skill>] [options]`"],
    [["list", "--scop", "x"], "Unknown option `--scop`: did you mean `--scope`?", "`metier list --help`"],
    [["list", "-q"], "Unknown option `-q`.", "`metier list --help`"],
    [["validate", "--profile", "x"], "it must be `strict`, `standard` or `lenient`.", "metier validate"],
    [["runs", "--since"], "`--since` needs a value.", "See `metier runs --help`."],
    [["run", "x", "--quiet", "--quiet"], "`--quiet` is given twice.", "metier run <skill>"],
    [["skill", "frob"], "`frob` is not a command of `metier skill`.", "`metier --help`"],
    [["skill", "remove"], "Missing `<skill>`.", "Type `metier remove <skill>... [options]`"],
  ])("%j", async (args, message, hint) => {
    const { code, stderr } = await createWorld().cli(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });
});
