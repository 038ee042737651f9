/**
 * What every backend promises about starting and ending commands, as tests over any of them. `shellConformance` is for
 * all; `processConformance` for those that start programs of the machine.
 */
import { existsSync, readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS, type OpenSandbox, openShell, uniqueSleep, untilGone } from "./sandbox-shell.ts";
import { verifies } from "./verifies.ts";

const BOUNDED = { timeoutMs: 1_000, maxOutputBytes: 1_000_000 };

/** Starting, streams and endings: also without isolation. `added`: variables of the backend itself. */
export function commandConformance(open: OpenSandbox, added: readonly string[] = []): void {
  shellConformance(open, added);
  processConformance(open);
}

/** What a shell does, whatever carries it out. */
export function shellConformance(open: OpenSandbox, added: readonly string[] = []): void {
  test("tells both streams and the exit code apart", async () => {
    const { run } = await openShell(open);
    expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({
      ended: "exited",
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      droppedBytes: 0,
    });
  });

  test("passes arguments as they are, without a shell", async () => {
    const { run } = await openShell(open);
    const words = ["a b", "$HOME", "`id`", '"', "'", "\\", "*", "", "ä\n;ls", "--args"];
    const outcome = await run("", { argv: ["printf", "%s|", ...words] });
    expect(outcome.stdout).toBe(`${words.join("|")}|`);
  });

  test("says that a program does not exist as a shell does", async () => {
    const { run } = await openShell(open);
    expect(await run("", { argv: ["no-such-program"] })).toMatchObject({ ended: "exited", exitCode: 127 });
  });

  test("refuses what no program can be given", async () => {
    const { run } = await openShell(open);
    const nul = "a\0--bind\0/\0/host";
    for (const wrong of [
      { argv: [] },
      { argv: ["echo", nul] },
      { env: { A: nul } },
      { env: { "A=B": "x" } },
      { cwd: "/etc" },
    ]) {
      const outcome = await run("echo ran", wrong);
      expect(outcome).toMatchObject({ ended: "refused", stdout: "" });
      expect(outcome.reason).toBeTruthy();
    }
  });

  test("gives standard input, and none where there is none", async () => {
    const { run } = await openShell(open);
    const text = "ä\0b\n".repeat(100_000);
    expect((await run("wc -c", { stdin: text })).stdout.trim()).toBe(String(Buffer.byteLength(text)));
    expect((await run("wc -c")).stdout.trim()).toBe("0");
    expect(await run("exit 0", { stdin: text })).toMatchObject({ ended: "exited", exitCode: 0 });
  });

  test("keeps the beginning of a long output, counts the rest and cuts no character in two", async () => {
    const { run } = await openShell(open);
    const limits = { timeoutMs: 30_000, maxOutputBytes: 1001 };
    const outcome = await run("for i in $(seq 2000); do printf ä; done; printf error >&2", { limits });
    expect(outcome.stdout).toBe("ä".repeat(500));
    expect(outcome.stderr).toBe("error");
    expect(outcome.droppedBytes).toBe(4000 - 1001);
  });

  test("does not start a command that is cancelled already", async () => {
    const { run, folders } = await openShell(open);
    const outcome = await run("touch $METIER_WORK_DIR/ran", { signal: AbortSignal.abort() });
    expect(outcome.ended).toBe("cancelled");
    expect(readdirSync(folders.work)).toEqual([]);
  });

  test("ends a busy shell at the time limit", async () => {
    const { run } = await openShell(open);
    const outcome = await run("while :; do :; done", { limits: BOUNDED });
    expect(outcome.ended).toBe("timeout");
  });

  test("ends a busy shell when it is cancelled", async () => {
    const { run } = await openShell(open);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 500);
    expect((await run("while :; do :; done", { signal: controller.signal })).ended).toBe("cancelled");
  });

  test("starts in the working directory, or where it is told", async () => {
    const { run, folders } = await openShell(open);
    expect((await run("pwd")).stdout.trim()).toBe(folders.project);
    expect((await run("pwd", { cwd: folders.work })).stdout.trim()).toBe(folders.work);
  });

  verifies(185, "gives exactly the minimal environment and what was declared", async () => {
    const { run, folders } = await openShell(open);
    process.env.METIER_TEST_LEAK = "leak";
    onTestFinished(() => {
      delete process.env.METIER_TEST_LEAK;
    });
    const env = { API_KEY: "a=b\nc" };
    expect((await run('printf %s "$API_KEY"', { env })).stdout).toBe(env.API_KEY);
    const { stdout } = await run("", { argv: ["env"], env });
    const variables = Object.fromEntries(
      [...stdout.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
    );
    expect(variables).toMatchObject({
      HOME: folders.work,
      METIER_WORK_DIR: folders.work,
      METIER_SKILL_DIR: folders.skill,
      TERM: "dumb",
    });
    const expected = [
      "API_KEY",
      "HOME",
      "LANG",
      "METIER_SKILL_DIR",
      "METIER_WORK_DIR",
      "PATH",
      "TERM",
      "TMPDIR",
    ];
    const own = ["PWD", "METIER_COMMAND_ID", ...added]; // Of the backends themselves.
    expect(
      Object.keys(variables)
        .filter((name) => !own.includes(name))
        .sort(),
    ).toEqual(expected);
  });
}

/** What only real processes do. */
export function processConformance(open: OpenSandbox): void {
  test("refuses a command that is longer than the system takes", async () => {
    const { run } = await openShell(open);
    expect(await run(`: ${"x".repeat(3_000_000)}`)).toMatchObject({ ended: "refused" });
  });

  test("says by which signal a command ended", async () => {
    const { run } = await openShell(open);
    expect(await run("kill -TERM $$")).toMatchObject({
      ended: "signalled",
      signal: "SIGTERM",
      exitCode: 143,
    });
    expect(await run("kill -KILL $$")).toMatchObject({
      ended: "signalled",
      signal: "SIGKILL",
      exitCode: 137,
    });
  });

  test("ends a command that floods its output", async () => {
    const { run } = await openShell(open);
    const limits = { timeoutMs: 60_000, maxOutputBytes: 1000 };
    const outcome = await run("yes", { limits });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toContain("more than");
  });

  test("shows output while the command runs", async () => {
    const { run } = await openShell(open);
    const seen: string[] = [];
    const controller = new AbortController();
    const outcome = await run("echo first; sleep 60", {
      signal: controller.signal,
      onOutput(stream, chunk) {
        seen.push(`${stream} ${Buffer.from(chunk).toString()}`);
        controller.abort();
      },
    });
    expect(seen).toEqual(["stdout first\n"]);
    expect(outcome).toMatchObject({ ended: "cancelled", stdout: "first\n" });
  });

  for (const [what, command] of [
    ["a child", "sleep SECONDS"],
    ["a process that ignores signals", "trap '' TERM INT HUP; sleep SECONDS; sleep SECONDS"],
    ["a process in the background", "sleep SECONDS & sleep 60"],
    ["a process that outlives hang-ups", "nohup sleep SECONDS >/dev/null 2>&1 & sleep 60"],
    ["a process in a session of its own", "setsid sleep SECONDS & sleep 60"],
    ["a daemon", "(setsid bash -c 'sleep SECONDS & disown' >/dev/null 2>&1 </dev/null &) ; sleep 60"],
  ] as const) {
    test(`ends ${what} at the time limit`, async () => {
      const { run } = await openShell(open);
      const seconds = uniqueSleep();
      const outcome = await run(command.replaceAll("SECONDS", seconds), { limits: BOUNDED });
      expect(outcome.ended).toBe("timeout");
      await untilGone(seconds);
    });
  }

  test("ends what a finished command left in the background, and does not wait for it", async () => {
    const { run } = await openShell(open);
    const seconds = uniqueSleep();
    const outcome = await run(`sleep ${seconds} & setsid sleep ${seconds} & echo done`);
    expect(outcome).toMatchObject({ ended: "exited", exitCode: 0, stdout: "done\n" });
    await untilGone(seconds);
  });

  test("ends the whole tree when it is cancelled", async () => {
    const { run } = await openShell(open);
    const seconds = uniqueSleep();
    const controller = new AbortController();
    const outcome = await run(`setsid sleep ${seconds} & echo started; sleep ${seconds}`, {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(outcome.ended).toBe("cancelled");
    await untilGone(seconds);
  });

  test("ends a command that starts too many processes", async () => {
    const { run } = await openShell(open);
    const seconds = uniqueSleep();
    const limits = { ...LIMITS, maxProcesses: 20 };
    const outcome = await run(`for i in {1..40}; do sleep ${seconds} & done; wait`, { limits });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toContain("the limit is 20");
    await untilGone(seconds);
  });

  test.skipIf(!existsSync("/usr/bin/prlimit"))("keeps one file and one process from growing", async () => {
    const { run } = await openShell(open);
    const limits = { ...LIMITS, maxFileBytes: 10_000, maxMemoryBytes: 1024 * 1024 * 1024 };
    const file = await run("head -c 50000 /dev/zero > ~/file; stat -c %s ~/file", { limits });
    expect(file.stdout.trim()).toBe("10000");
    expect((await run("ulimit -d; ulimit -c", { limits })).stdout).toBe(`${2 * 1024 * 1024}\n0\n`);
  });

  test("ends a command whose processes together use too much memory", async () => {
    const { run } = await openShell(open);
    const limits = { ...LIMITS, maxMemoryBytes: 250 * 1024 * 1024 };
    const hold = "const held = Buffer.alloc(100_000_000, 1); setTimeout(() => held, 60_000)";
    const outcome = await run(`for i in 1 2 3; do node -e '${hold}' & done; wait`, { limits });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toContain("memory");
  });

  test("finds the Node that runs Metier first", async () => {
    const { run } = await openShell(open);
    expect((await run("node --version")).stdout.trim()).toBe(process.version);
  });
}
