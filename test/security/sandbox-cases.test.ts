/** What a sandboxed program may do, that nothing of a sandbox is left, and what it finds: mounts and environment. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { expect, onTestFinished } from "vitest";
import { withGrowingTime } from "../support/growing-time.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { LIMITS, openShell, uniqueSleep, untilGone } from "../support/sandbox-shell.ts";
import { verifies } from "../support/verifies.ts";

async function open(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
  if (!sandbox) throw new Error("bubblewrap does not start here.");
  return sandbox;
}

describeSandbox("a sandboxed program", () => {
  verifies("case 133", "is not root, and neither `sudo` nor `su` makes it so", async () => {
    const { run } = await openShell(open);
    const { stdout } = await run("id -u; id -un; (sudo -n id -u || su -c 'id -u') 2>/dev/null");
    const [uid, name, ...gained] = stdout.trim().split("\n");
    expect(uid).not.toBe("0");
    expect(name).toBe("metier");
    expect(gained).toEqual([]);
  });

  verifies("case 133", "finds the folders of the system read-only", async () => {
    const { run } = await openShell(open);
    for (const folder of ["/", "/etc", "/usr", "/usr/bin", "/bin", "/lib"]) {
      const { exitCode, stderr } = await run(`touch ${folder}/new`);
      expect(`${folder} ${exitCode} ${stderr}`).toMatch(/^\S+ 1 .*Read-only file system/);
    }
  });

  // Bubblewrap cannot mount without the right to execute: programs can be started in `/tmp`, as in the work folder.
  verifies("case 133", "can write to `/tmp`, but make nothing there that gives privileges", async () => {
    const { run } = await openShell(open);
    const written = await run("echo x > /tmp/file && cat /tmp/file && grep ' /tmp ' /proc/self/mounts");
    expect(written.stdout).toMatch(/^x\n\S+ \/tmp tmpfs \S*rw,nosuid,nodev/);
    for (const command of ["chmod u+s /tmp/file", "chmod g+s /tmp/file", "mknod /tmp/disk b 8 0"]) {
      const { exitCode, stderr } = await run(`touch /tmp/file; ${command}`);
      expect(`${command} ${exitCode} ${stderr}`).toMatch(/ 1 .*not permitted/);
    }
  });

  verifies("case 133", "is ended at its time limit", async () => {
    const { run } = await openShell(open);
    const { outcome } = await withGrowingTime(
      (timeoutMs) => run("echo begun; sleep 600", { limits: { ...LIMITS, timeoutMs } }),
      ({ stdout }) => stdout !== "",
    );
    expect(outcome).toMatchObject({ ended: "timeout", stdout: "begun\n" });
  });

  verifies("case 133", "is told by its exit code and its errors", async () => {
    const { run } = await openShell(open);
    expect(await run("echo wrong >&2; exit 42")).toMatchObject({
      ended: "exited",
      exitCode: 42,
      stdout: "",
      stderr: "wrong\n",
    });
  });

  verifies("case 133", "may write a lot, of which the beginning is kept", async () => {
    const { run } = await openShell(open);
    const limits = { ...LIMITS, maxOutputBytes: 1000 };
    const { stdout, droppedBytes, exitCode } = await run("printf '%05000d' 7; exit 3", { limits });
    expect([stdout, droppedBytes, exitCode]).toEqual(["0".repeat(1000), 4000, 3]);
  });

  verifies("case 133", "gets special characters as they are", async () => {
    const { run } = await openShell(open);
    const text = "quotes ' \" `id` $HOME \\ * ? ~ # ! & | ; < > ( ) { } \t ä 漢 🦊\n";
    const quoted = `'${text.replaceAll("'", "'\\''")}'`;
    expect((await run(`printf %s ${quoted}`)).stdout).toBe(text);
    expect((await run("cat", { stdin: text })).stdout).toBe(text);
    expect((await run('printf %s "$TEXT"', { env: { TEXT: text } })).stdout).toBe(text);
  });
});

describeSandbox("of a sandbox nothing is left", () => {
  /** A run that may change the project: while it lasts, files hold the places that it must not use. */
  const openWritable = async () => {
    const shell = await openShell(open);
    const world = shell.folders.world({ write: true });
    expect(world.protectedPaths.length).toBeGreaterThan(0);
    return { ...shell, world, left: () => readdirSync(shell.folders.project) };
  };

  for (const [when, command, exitCode] of [
    ["after success", "exit 0", 0],
    ["after a failure", "exit 7", 7],
    ["after a crash", "kill -SEGV $$", 139],
  ] as const) {
    verifies("case 134", `${when}: no process, no temporary file, no place that was held`, async () => {
      const { run, world, left } = await openWritable();
      const seconds = uniqueSleep();
      const outcome = await run(`echo x > /tmp/mine; setsid sleep ${seconds} & ${command}`, { world });
      expect(outcome.exitCode).toBe(exitCode);
      await untilGone(seconds);
      expect((await run("ls -A /tmp", { world })).stdout).not.toContain("mine");
      expect(left()).toEqual([]);
    });
  }

  verifies("case 134", "when the program does not exist", async () => {
    const { run, world, left } = await openWritable();
    expect(await run("", { argv: ["no-such-program"], world })).toMatchObject({ exitCode: 127 });
    expect(left()).toEqual([]);
  });

  verifies("case 134", "when it cannot start", async () => {
    const { run, world, left, folders } = await openWritable();
    const gone = join(folders.root, "gone");
    mkdirSync(gone);
    const broken = { ...world, readable: [...world.readable, gone] };
    rmSync(gone, { recursive: true });
    const outcome = await run("echo ran", { world: broken });
    expect(outcome).toMatchObject({ ended: "refused", stdout: "" });
    expect(outcome.reason).toContain(gone);
    expect(left()).toEqual([]);
  });

  verifies("case 134", "when it is cancelled, or takes too long", async () => {
    const { run, world, left } = await openWritable();
    const seconds = uniqueSleep();
    const controller = new AbortController();
    const cancelled = await run(`echo begun; sleep ${seconds}`, {
      world,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    const late = await run(`sleep ${seconds}`, { world, limits: { ...LIMITS, timeoutMs: 300 } });
    expect([cancelled.ended, late.ended]).toEqual(["cancelled", "timeout"]);
    await untilGone(seconds);
    expect(left()).toEqual([]);
  });
});

describeSandbox("what a sandboxed program finds", () => {
  verifies("case 135", "is its skill, read-only, at the path that a variable names", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "skills/pdf/SKILL.md": "text", "skills/pdf/scripts/run.sh": "echo from the skill" });
    const { stdout } = await run(
      'echo "$METIER_SKILL_DIR"; bash "$METIER_SKILL_DIR/scripts/run.sh"; cd "$METIER_SKILL_DIR" && ls',
    );
    expect(stdout).toBe(`${folders.skill}\nfrom the skill\nSKILL.md\nscripts\n`);
    for (const change of ["echo x >> SKILL.md", "rm SKILL.md", "mkdir new", "chmod 777 scripts/run.sh"]) {
      const { exitCode, stderr } = await run(`cd "$METIER_SKILL_DIR" && ${change}`);
      expect(`${change} ${exitCode} ${stderr}`).toMatch(/ 1 .*Read-only file system/);
    }
    expect(readFileSync(join(folders.skill, "SKILL.md"), "utf8")).toBe("text");
  });

  verifies("case 135", "are several skills, when a run may see the files of several", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "skills/pdf/SKILL.md": "own", "skills/docx/SKILL.md": "other" });
    const other = join(folders.root, "skills", "docx");
    const world = folders.world({ otherSkills: [other] });
    const seen = await run(`cat "$METIER_SKILL_DIR/SKILL.md" ${other}/SKILL.md`, { world });
    expect(seen.stdout).toBe("ownother");
    expect((await run(`echo x > ${other}/SKILL.md`, { world })).stderr).toContain("Read-only");
    expect((await run(`cat ${other}/SKILL.md`)).exitCode).toBe(1);
  });

  verifies("case 135", "are the variables of each command on top of those that all have", async () => {
    const { run, folders } = await openShell(open);
    const show = 'echo "$METIER_WORK_DIR $LANG [$TOKEN]"';
    const plain = `${folders.work} C.UTF-8 []\n`;
    expect((await run(show)).stdout).toBe(plain);
    expect((await run(show, { env: { TOKEN: "t", LANG: "de_DE.UTF-8" } })).stdout).toBe(
      `${folders.work} de_DE.UTF-8 [t]\n`,
    );
    expect((await run(show)).stdout).toBe(plain);
  });

  verifies("case 135", "is nothing of the environment that Metier itself has", async () => {
    const { run } = await openShell(open);
    process.env.METIER_TEST_LEAK = "leaked";
    onTestFinished(() => {
      delete process.env.METIER_TEST_LEAK;
    });
    const { stdout } = await run("env; cat /proc/*/environ 2>/dev/null");
    expect(stdout).not.toContain("leaked");
  });
});
