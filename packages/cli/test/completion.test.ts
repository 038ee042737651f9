/** What Tab offers, asked of the hidden command itself and through the real shells. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMPILED_CODE } from "../../../test/support/compiled-code.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";
import { runCli } from "../src/run-cli.ts";

/** What is offered behind these words, the last of which is being typed. */
async function offered(world: World, ...words: readonly string[]): Promise<readonly string[]> {
  return (await complete(world, "zsh", "metier", "--home", world.home, ...words)).map(
    (line) => line.split("\t")[0] ?? "",
  );
}

async function complete(world: World, ...args: readonly string[]): Promise<readonly string[]> {
  let stdout = "";
  const sink = {
    write(text: string) {
      stdout += text;
    },
  };
  const fail = { write: (text: string) => expect(text).toBe("") };
  const io = { cwd: world.project, environment: {}, interactive: false, color: false };
  const code = await runCli(["__complete", ...args], {
    ...io,
    stdout: sink,
    stderr: fail,
    ask: () => Promise.reject(new Error("A question while a line is typed.")),
    readLine: () => Promise.reject(new Error("A question while a line is typed.")),
    onInterrupt: () => () => undefined,
  });
  expect(code).toBe(0);
  return stdout.split("\n").slice(0, -1);
}

function worldWithSkills(): World {
  const world = createWorld();
  world.write({
    "home/.metier/skills/alpha/SKILL.md": skill("alpha"),
    "home/.metier/skills/alpine/SKILL.md": skill("alpine"),
    "home/.metier/config.toml": '[models.quick]\nprovider = "anthropic"\nmodel = "x"\n',
    "project/notes.txt": "",
  });
  return world;
}

describe("[U14] metier __complete", () => {
  test.each([
    [["ru"], ["run", "runs"]],
    [["uninst"], ["uninstall"]],
    [
      ["run", "alp"],
      ["alpha", "alpine", ":files"],
    ],
    [["skill", "show", "alpi"], ["alpine"]],
    [["help", "outd"], ["outdated"]],
    [["validate", "--fo"], ["--format"]],
    [
      ["validate", "--format", ""],
      ["text", "json", "sarif", "github"],
    ],
    [["validate", "--format=s"], ["--format=sarif"]],
    [["outdated", "--no"], ["--no-project"]],
    [["runs", "st"], ["stats"]],
    [
      ["capability", "auth", ""],
      ["begin", "complete", "poll", "list", "unlink"],
    ],
    [["capability", "au"], ["auth"]],
    [["config", "get", "skills.pre"], ["skills.preset"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [
      ["mcp", "--print-config", "c"],
      ["claude", "codex"],
    ],
    [
      ["run", "alpha", "--model", ""],
      ["quick", "opus", "sonnet", "haiku", "gpt", "gemini", "fast", "smart"],
    ],
    [["chat", "--model", "son"], ["sonnet"]],
    [["trust", "list", ""], []],
    [["run", "alpha", "--timeout", ""], []],
    [["run", "--", "--mod"], [":files"]],
    [
      ["run", "--input", "--model", "alph"],
      ["alpha", ":files"],
    ],
    [["validate", ""], [":files"]],
    [["eval", "--out", ""], [":dirs"]],
    [["--profile", "len"], ["lenient"]],
    [["find", "-"], expect.arrayContaining(["-k", "--number", "--cwd", "--help"])],
    [["nonsense", ""], expect.arrayContaining(["run"])],
  ] as const)("behind %j it offers %j", async (words, wanted) => {
    expect(await offered(worldWithSkills(), ...words)).toEqual(wanted);
  });

  test("kept runs are offered by id, with what they were", async () => {
    const world = worldWithSkills();
    const id = "mf3k2aaa-abcdef";
    world.write({ [`home/.metier/state/runs/${id}/events.jsonl`]: "" });
    expect(await offered(world, "runs", "show", "m")).toEqual([id]);
    expect(await offered(world, "capability", "invoke", "")).toEqual([]);
  });

  test("bash gets what stands behind its last break character", async () => {
    const world = worldWithSkills();
    const ask = async (line: string): Promise<readonly string[]> =>
      (await complete(world, "bash", " \t\n\"'><=;|&(:", line)).map((found) => found.split("\t")[0] ?? "");
    expect(await ask("metier validate --format=s")).toEqual(["sarif"]);
    expect(await ask("metier validate --format s")).toEqual(["sarif"]);
    expect(await ask(`metier --home '${world.home}' run "alpha" --dr`)).toEqual(["--dry-run"]);
    expect(await ask(`metier --home=${world.home} run alpi`)).toEqual(["alpine", ":files"]);
    expect(await ask("  metier   ver")).toEqual(["verify"]);
  });

  test("a name or description from anyone is only ever text on one line", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/evil/SKILL.md":
        '---\nname: evil\ndescription: "a\\tb \\e[31m $(touch pwned) `id`\\nsecond"\n---\n\nx\n',
      "home/.metier/skills/$(touch pwned)/SKILL.md": "---\ndescription: x\n---\n\nx\n",
    });
    const lines = await complete(world, "fish", "metier", "--home", world.home, "run", "");
    const evil = lines.filter((line) => line.startsWith("evil"));
    expect(evil).toHaveLength(1);
    expect(evil[0]?.split("\t")).toHaveLength(2);
    expect(lines.join("")).not.toMatch(/\u001b/);
    expect(lines.filter((line) => /^[^\t]*[$(`\s]/.test(line.split("\t")[0] ?? ""))).toEqual([]);
  });

  test("what cannot be read offers nothing and complains about nothing", async () => {
    const world = createWorld();
    expect(await offered(world, "run", "--cwd", "/nonexistent", "")).toEqual([]);
    world.write({ "home/.metier/config.toml": "[broken" });
    expect(await offered(world, "run", "--model", "zz")).toEqual([]);
  });
});

describe("[U14] metier completion", () => {
  test("prints a script, and refuses another shell", async () => {
    const world = createWorld();
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await world.cli("completion", shell);
      expect(code).toBe(0);
      expect(stdout).toContain(`command metier __complete ${shell}`);
    }
    expect(await world.cli("completion", "powershell")).toMatchObject({ code: 2, stdout: "" });
    expect((await world.cli("completion", "zhs")).stderr).toContain("Did you mean `zsh`?");
  });

  const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;

  test("bash completes commands, values and skills, and files where they are meant", async (context) => {
    if (!has("bash")) context.skip("bash is not installed");
    const { world, env } = await installed("bash");
    const { stdout, stderr } = spawnSync(
      "bash",
      [
        "--norc",
        "-c",
        `source ./completion
        ask() {
          COMP_LINE="$1" COMP_POINT=\${#1}
          read -ra COMP_WORDS <<<"\${1//=/ = }"
          [ "\${1: -1}" = " " ] && COMP_WORDS+=("")
          COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
          _metier
          echo "\${COMPREPLY[*]}"
        }
        ask "metier ru"
        ask "metier run alp"
        ask "metier validate --format=s"
        ask "metier validate no"
        complete -p metier`,
      ],
      { env, cwd: world.project, encoding: "utf8" },
    );
    expect(stderr).not.toContain("syntax error");
    expect(stdout.split("\n")).toEqual([
      "run runs",
      "alpha alpine",
      "sarif",
      "notes.txt",
      "complete -F _metier metier",
      "",
    ]);
  });

  test("bash completes while somebody types", async (context) => {
    if (!has("bash") || !has("script")) context.skip("bash or script is not installed");
    const shown = "metier run alpine ";
    const screen = await type("bash --norc -i", await installed("bash"), "source ./completion", [
      "metier run alpi\t",
      shown,
    ]);
    expect(screen).toContain(shown);
  });

  test("zsh completes while somebody types", async (context) => {
    if (!has("zsh") || !has("script")) context.skip("zsh or script is not installed");
    const load = "autoload -Uz compinit && compinit -u -D && source ./completion";
    const steps = [
      ["metier run alpi\t", "metier run alpine "],
      ["\u0015metier validate --form\t", "metier validate --format "],
      ["sar\t", "sarif "],
      ["note\t", "notes.txt "],
    ] as const;
    const screen = await type("zsh -f -i", await installed("zsh"), load, ...steps);
    for (const [, shown] of steps) expect(screen).toContain(shown);
  });

  test("zsh finds the script in a folder of its own", async (context) => {
    if (!has("zsh") || !has("script")) context.skip("zsh or script is not installed");
    const { world, env } = await installed("zsh");
    mkdirSync(join(world.project, "functions"));
    symlinkSync(join(world.project, "completion"), join(world.project, "functions", "_metier"));
    const load = "fpath=($PWD/functions $fpath) && autoload -Uz compinit && compinit -u -D";
    const shown = "metier outdated ";
    expect(await type("zsh -f -i", { world, env }, load, ["metier outd\t", shown])).toContain(shown);
  });

  test("fish completes with explanations", async (context) => {
    if (!has("fish")) context.skip("fish is not installed");
    const { world, env } = await installed("fish");
    const ask = (line: string): readonly string[] =>
      spawnSync("fish", ["--no-config", "-c", `source ./completion; complete -C '${line}'`], {
        env,
        cwd: world.project,
        encoding: "utf8",
      })
        .stdout.trim()
        .split("\n");
    expect(ask("metier ru")).toEqual([
      "run\tRun a skill in isolation and print its result",
      expect.stringMatching(/^runs\t/),
    ]);
    expect(ask("metier run alp")).toEqual(["alpha\tThe alpha skill.", "alpine\tThe alpine skill."]);
    expect(ask("metier validate --format=s")).toEqual(["--format=sarif"]);
    expect(ask("metier validate note")).toEqual([expect.stringMatching(/^notes\.txt/)]);
  });
});

interface Installed {
  readonly world: World;
  readonly env: Readonly<Record<string, string>>;
}

/** A world with a `metier` on the PATH and the shell's script in the project. */
async function installed(shell: string): Promise<Installed> {
  const world = worldWithSkills();
  const bin = join(world.root, "bin");
  mkdirSync(bin);
  const command = join(bin, "metier");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/packages/cli/src/main.ts' "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(world.project, "completion"), (await world.cli("completion", shell)).stdout);
  const env = {
    ...COMPILED_CODE,
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    HOME: world.home,
    METIER_HOME: world.home,
    TERM: "xterm",
    PS1: "> ",
  };
  return { world, env };
}

/** Types into a shell in a terminal, and waits after each text until the screen shows what it should; the screen. */
async function type(
  shell: string,
  { world, env }: Installed,
  load: string,
  ...steps: readonly (readonly [keys: string, shown: string])[]
): Promise<string> {
  const child = spawn("script", ["-qfec", shell, "/dev/null"], { env, cwd: world.project });
  let bytes = "";
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.toString();
  });
  const screen = (): string =>
    bytes.replace(/\u001b\[[\d;?]*[A-Za-z]|\u0007|\r/g, "").replace(/.\u0008/g, "");
  try {
    for (const [keys, shown] of [[`${load} && echo loa""ded\n`, "\nloaded\n"] as const, ...steps]) {
      child.stdin.write(keys);
      const end = Date.now() + PATIENCE_MS;
      while (!screen().includes(shown) && Date.now() < end) await sleep(20);
    }
    return screen();
  } finally {
    child.kill("SIGKILL"); // The shell's terminal goes with it.
  }
}

const PATIENCE_MS = 90_000;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
