/**
 * `init`, `run` and `chat` as processes, in a project that brings along programs under names that Metier or a shell would
 * look for, wherever a PATH could lead to them. Each would leave a mark; none may.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { startOllama, type TestOllama } from "../../../test/support/ollama.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { HAS_TERMINAL, inTerminal, type TerminalStep } from "../../../test/support/terminal.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

const NAMES = [
  ...["claude", "codex", "ollama", "git", "less", "more", "pager", "bwrap", "prlimit", "setpriv", "unshare"],
  ...["node", "npm", "npx", "sh", "bash", "env", "python3", "uv", "rg", "grep", "sed", "which", "uname"],
  ...[
    "security",
    "secret-tool",
    "pass",
    "op",
    "gh",
    "editor",
    "vi",
    "nano",
    "stty",
    "tput",
    "tmux",
    "my-key",
  ],
];

interface Trap {
  readonly world: World;
  readonly ollama: TestOllama;
  readonly environment: Readonly<Record<string, string>>;
  /** The programs that were started. */
  marks(): readonly string[];
}

/** The model has a command run, so that a sandbox is needed, too. */
async function setTrap(): Promise<Trap> {
  const ollama = await startOllama(
    [{ name: "qwen3:8b" }],
    [
      { calls: [{ name: "bash", arguments: { command: "git --version; node --version; ls" } }] },
      { text: "Done." },
    ],
  );
  const world = createWorld();
  const mark = join(world.root, "marks");
  for (const folder of [".", "bin", "node_modules/.bin"]) {
    mkdirSync(join(world.project, folder), { recursive: true });
    for (const name of NAMES) {
      const file = join(world.project, folder, name);
      if (existsSync(file)) continue;
      writeFileSync(file, `#!/bin/sh\necho "${folder}/${name} $*" >> '${mark}'\n`);
      chmodSync(file, 0o755);
    }
  }
  symlinkSync(join(world.project, "bin"), join(world.root, "linked"));
  const inside = [
    ...["node_modules/.bin", ".", "./bin", ""],
    ...[".", "bin", "node_modules/.bin"].map((folder) => join(world.project, folder)),
    join(world.root, "linked"),
  ];
  world.write({
    "home/.metier/skills/count/SKILL.md": skill("count", "allowed-tools: Bash"),
    "project/.metier/skills/theirs/SKILL.md": skill("theirs"),
  });
  const PATH = [...inside, "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  return {
    world,
    ollama,
    environment: { PATH, OLLAMA_HOST: ollama.host, HOME: world.home, PAGER: "less", EDITOR: "vi" },
    marks: () => (existsSync(mark) ? readFileSync(mark, "utf8").trim().split("\n") : []),
  };
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** As a user types it, without a terminal. The node that runs it is named by its path, as `bin/metier.js` is by its link. */
function type({ world, environment }: Trap, ...args: readonly string[]): Promise<Ended> {
  const main = join(ROOT, "packages/cli/src/main.ts");
  const child = spawn(process.execPath, ["--no-warnings", main, ...args, "--home", world.home], {
    cwd: world.project,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

const DEFAULT = (trap: Trap, more = ""): string =>
  `[models.default]\nprovider = "ollama"\nmodel = "qwen3:8b"\nbase-url = "${trap.ollama.url}"\n${more}`;

describe("no program from inside the project is started", () => {
  test("the trap works: a shell with this PATH starts them", async () => {
    const trap = await setTrap();
    const { world, environment } = trap;
    const child = spawn("/bin/sh", ["-c", "git status; my-key"], { cwd: world.project, env: environment });
    await new Promise((resolve) => child.on("close", resolve));
    expect(trap.marks()).toEqual(["node_modules/.bin/git status", "node_modules/.bin/my-key"]);
  });

  test("by `metier init`, which finds none of them and writes what it tested", async () => {
    const trap = await setTrap();
    const { code, output } = await type(trap, "init", "--yes");
    expect([code, trap.marks()]).toEqual([0, []]);
    expect(output).toContain("Ollama qwen3:8b");
    expect(output).not.toMatch(/claude|codex/i);
  });

  test("by `metier run`, with a command in the sandbox", async () => {
    const trap = await setTrap();
    trap.world.write({ "home/.metier/config.toml": DEFAULT(trap) });
    const { code, output } = await type(trap, "run", "count", "Go.", "--approve");
    expect([code, trap.marks()]).toEqual([0, []]);
    expect(output).toContain("Done.");
    expect(trap.ollama.chats).toHaveLength(2);
  });

  test("by `metier run`, for a key command that only the project has", async () => {
    const trap = await setTrap();
    trap.world.write({ "home/.metier/config.toml": DEFAULT(trap, 'api-key-command = ["my-key"]\n') });
    const { code, output } = await type(trap, "run", "count", "Go.");
    expect([code, trap.marks()]).toEqual([6, []]);
    expect(output).toContain("`my-key`, failed");
  });

  test("by `metier doctor`, which tries the sandbox", async () => {
    const trap = await setTrap();
    const { code, output } = await type(trap, "doctor");
    expect([code, trap.marks()]).toEqual([0, []]);
    expect(output).not.toContain(`${trap.world.project}/bin`);
  });

  test("by `metier chat` without a terminal", async () => {
    const trap = await setTrap();
    trap.world.write({ "home/.metier/config.toml": DEFAULT(trap) });
    const { code, output } = await type(trap, "chat", "Hi.", "--approve");
    expect([code, trap.marks()]).toEqual([0, []]);
    expect(output).toContain("Done.");
  });

  describe.skipIf(!HAS_TERMINAL)("in a terminal", () => {
    const inside = (trap: Trap, steps: readonly TerminalStep[], ...args: readonly string[]) =>
      inTerminal(steps, args, {
        cwd: trap.world.project,
        home: trap.world.home,
        environment: trap.environment,
      });

    test("by `metier init`", async () => {
      const trap = await setTrap();
      const steps = [{ expect: "q to quit [1]: " }, { send: "1\r" }, { expect: "Next: " }];
      const { code } = await inside(trap, steps, "init");
      expect([code, trap.marks()]).toEqual([0, []]);
    });

    test("by `metier run`", async () => {
      const trap = await setTrap();
      trap.world.write({ "home/.metier/config.toml": DEFAULT(trap) });
      const steps = [{ expect: "?" }, { send: "\r" }, { expect: "Done." }];
      const { code } = await inside(trap, steps, "run", "count", "Go.", "--approve");
      expect([code, trap.marks()]).toEqual([0, []]);
    });

    test("by `metier chat`, its lists and its Tab", async () => {
      const trap = await setTrap();
      trap.world.write({ "home/.metier/config.toml": DEFAULT(trap) });
      const steps: readonly TerminalStep[] = [
        { expect: "?" },
        { send: "\r" },
        { expect: "> " },
        { send: "/skills\r" },
        { expect: "count" },
        { expect: "> " },
        { send: "@gi\t\u0015Hi.\r" },
        { expect: "Done." },
        { expect: "> " },
        { send: "/exit\r" },
      ];
      const { code } = await inside(trap, steps, "chat", "--approve");
      expect([code, trap.marks()]).toEqual([0, []]);
    });
  });
});
