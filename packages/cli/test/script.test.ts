import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/support/repository.ts";
import { describeSandbox } from "../../../test/support/sandbox.ts";
import { createScriptWorld } from "../../../test/support/script-world.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { skill, type World } from "../../../test/support/world.ts";

const FILES = {
  "scripts/hello.sh": 'echo "hello $*"; echo warned >&2',
  "scripts/fail.sh": "echo partly; exit 9",
  "scripts/count.py": "import json, sys\nprint(json.dumps({'bytes': len(sys.stdin.read())}))",
  "scripts/sleep.sh": "echo begun; sleep 1000",
  "scripts/ruby.none": "#!/usr/bin/env no-such-program-x\n",
  "scripts/keep.sh": 'echo x > "$METIER_WORK_DIR/kept.txt"',
  "scripts/escape.sh": "printf '\\033[31mred'",
  "references/guide.md": "Guide.",
};
const createDemo = (): World => createScriptWorld({ demo: FILES });

describe("metier script without a script", () => {
  test("lists those of the skill", async () => {
    const world = createDemo();
    const { code, stdout } = await world.cli("script", "demo");
    expect([code, stdout.split("\n").slice(0, 3)]).toEqual([
      0,
      ["scripts/count.py", "scripts/escape.sh", "scripts/fail.sh"],
    ]);
    const { json } = await world.cli("script", "demo", "--json");
    expect(json).toMatchObject({
      skill: "demo",
      scripts: expect.arrayContaining([{ path: "scripts/fail.sh", size: 19 }]),
    });
    expect((await world.cli("script", "none")).code).toBe(1);
    world.write({ "home/.metier/skills/bare/SKILL.md": skill("bare") });
    expect((await world.cli("script", "bare")).stderr).toBe("Skill `bare` has no scripts.\n");
  });
});

describeSandbox("metier script", () => {
  verifies([137], "passes on what the script writes, and says how it ended", async () => {
    const world = createDemo();
    const done = await world.cli("script", "demo", "scripts/hello.sh", "a  b", "c");
    expect(done).toMatchObject({ code: 0, stdout: "hello a  b c\n", stderr: "warned\n" });
    const failed = await world.cli("script", "demo", "scripts/fail.sh");
    expect(failed).toMatchObject({
      code: 5,
      stdout: "partly\n",
      stderr: "error: `scripts/fail.sh` exited with code 9.\n",
    });
    const kept = await world.cli("script", "demo", "scripts/keep.sh");
    expect(kept.stderr).toMatch(/^The script left 1 file in .*work\.\n$/);
  });

  test("prints one JSON value with --json, whatever became of it", async () => {
    const world = createDemo();
    const { code, json } = await world.cli("script", "demo", "scripts/fail.sh", "--json");
    expect(code).toBe(5);
    expect(json).toMatchObject({
      skill: "demo",
      script: "scripts/fail.sh",
      exitCode: 9,
      ended: "exited",
      stdout: "partly\n",
      stderr: "",
      durationMs: expect.any(Number),
      files: [],
      sandbox: { backend: "bubblewrap" },
      diagnostics: [],
    });
    const refused = await world.cli("script", "none", "a.sh", "--json");
    expect([refused.code, refused.json.refusal.reason]).toEqual([3, "not-found"]);
  });

  test("ends with 1 for a script that is not there, with 6 for a program that is not, with 4 at a limit", async () => {
    const world = createDemo();
    const missing = await world.cli("script", "demo", "scripts/none.sh");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(
      /`scripts\/none\.sh` does not exist\.\n {2}→ Its scripts: scripts\/count\.py,/,
    );
    const program = await world.cli("script", "demo", "scripts/ruby.none");
    expect([program.code, program.stderr.includes('programs = ["no-such-program-x"]')]).toEqual([6, true]);
    const limited = await world.cli("script", "demo", "scripts/sleep.sh", "--timeout", "2");
    expect([limited.code, limited.stdout]).toEqual([4, "begun\n"]);
    expect(limited.stderr).toContain("it timed out after 2 s");
    expect((await world.cli("script", "demo", "scripts/hello.sh", "--timeout", "0")).code).toBe(2);
  });

  test("gives a file to the script's standard input", async () => {
    const world = createDemo();
    world.write({ "project/input.txt": "12345" });
    const { stdout } = await world.cli("script", "demo", "scripts/count.py", "--stdin", "input.txt");
    expect(JSON.parse(stdout)).toEqual({ bytes: 5 });
    const none = await world.cli("script", "demo", "scripts/count.py", "--stdin", "none.txt");
    expect([none.code, none.stderr.includes("Can't read `--stdin`")]).toEqual([2, true]);
    expect((await world.cli("script", "demo", "scripts/count.py", "--stdin", "-")).code).toBe(2);
  });

  test("does not run an untrusted skill as a trusted one", async () => {
    const world = createDemo();
    world.write({
      "project/secret.txt": "of the project",
      "project/.metier/skills/theirs/SKILL.md": skill("theirs"),
      "project/.metier/skills/theirs/scripts/a.sh": `cat ${JSON.stringify(join(world.project, "secret.txt"))}`,
    });
    const { json } = await world.cli("script", "theirs", "scripts/a.sh", "--json");
    expect(json).toMatchObject({ trust: "untrusted", stdout: "" });
    const trusted = await world.cliAnswering(["y"], "script", "theirs", "scripts/a.sh");
    expect(trusted.stdout).toContain("of the project");
  });
});

describeSandbox("metier script as a process", () => {
  const command = ({ home, project }: World, ...words: readonly string[]): readonly string[] => [
    join(ROOT, "packages/cli/src/main.ts"),
    "script",
    "demo",
    ...["--home", home, "--cwd", project],
    ...words,
  ];

  test("gives what is piped in, takes options after --, and lets control characters pass into a pipe", () => {
    const world = createDemo();
    const run = (input: string, ...words: readonly string[]) =>
      spawnSync(process.execPath, command(world, ...words), { input, encoding: "utf8" });
    expect(run("123", "scripts/count.py", "--json").stdout).toContain('"bytes": 3');
    expect(run("", "scripts/hello.sh", "--", "--json", "-x").stdout).toBe("hello --json -x\n");
    expect(run("", "scripts/escape.sh").stdout).toBe("\u001b[31mred");
  });

  test("ends with its script although the pipe stays open, and cancels it when it is interrupted", async () => {
    const world = createDemo();
    const open = spawn(process.execPath, command(world, "scripts/hello.sh"), {
      stdio: ["pipe", "ignore", "ignore"],
    });
    expect(await once(open, "exit")).toEqual([0, null]);
    const long = spawn(process.execPath, command(world, "scripts/sleep.sh"), {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(long.stdout, "data");
    long.kill("SIGINT");
    expect(await once(long, "exit")).toEqual([130, null]);
  });
});
