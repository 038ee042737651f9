/** A sandbox that was made before its command was known holds the command as one that was made for it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { commandLine, until } from "../support/processes.ts";
import { ROOT } from "../support/repository.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { withSandboxAhead } from "../support/sandbox-ahead.ts";
import { openShell, type Shell } from "../support/sandbox-shell.ts";

async function openBubblewrap(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "bubblewrap", trust: "trusted" });
  if (!sandbox) throw new Error("There is no bubblewrap here.");
  return sandbox;
}

/** Each command has one that was made ahead. */
function openAhead(): Promise<Shell> {
  return openShell(async () => withSandboxAhead(await openBubblewrap()));
}

/** Standard input is what no sandbox has that was made ahead. */
const FRESH = { stdin: "" };

/** What a command finds. Its own number differs, and the order of mounts means nothing. */
const LOOK = `
env | sort; printf '<%s>\\n' "$GIVEN"
id; ulimit -a; umask; pwd; grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status
ls -la / /dev /run/metier /run/metier/bin /etc | sed 's/ [A-Z][a-z][a-z] .. ..:.. / /; / proc$/d'
cut -d' ' -f2,3,4 /proc/self/mounts | grep -v '^/proc/2 ' | sort
cat /etc/passwd /etc/group /etc/hosts /run/metier/bin/metier-sb; cat /proc/net/dev; hostname
ls /proc/1; ls /proc/self/fd | wc -l; readlink /proc/self/exe`;

describeSandbox("a sandbox that was made ahead", () => {
  test("is one: bubblewrap, then bubblewrap in it, then the command", async () => {
    const { run } = await openAhead();
    expect((await run("echo $$")).stdout).toBe("3\n");
    expect((await run("echo $$", FRESH)).stdout).toBe("2\n");
  });

  test("shows a command the same, and lets it do the same", async () => {
    const { run, folders } = await openAhead();
    folders.write({ "project/.env": "SECRET=1\n", "project/a/b.txt": "b" });
    const more = { env: { GIVEN: 'it\'s\n"given" $HOME' } };
    const [fresh, ahead] = [await run(LOOK, { ...more, ...FRESH }), await run(LOOK, more)];
    expect(ahead.stdout).toContain(`<${more.env.GIVEN}>`);
    expect(ahead.stdout).not.toContain("METIER_START");
    expect(ahead).toEqual({ ...fresh, durationMs: expect.any(Number) });
  });

  test("sees the world as it is when the command comes: a replaced secret is as hidden as the old one", async () => {
    const { run, folders } = await openAhead();
    folders.write({ "project/.env": "SECRET=old\n", "project/next": "SECRET=new\n" });
    const project = join(folders.root, "project");
    const world = folders.world();
    const look = `cat ${project}/.env; ls ${project}`;
    await run(look, { world });
    renameSync(join(project, "next"), join(project, ".env"));
    writeFileSync(join(project, "late.txt"), "late");
    const { stdout } = await run(look, { world });
    expect(stdout).toContain("late.txt");
    expect(stdout).not.toContain("SECRET");
    expect(readFileSync(join(project, ".env"), "utf8")).toBe("SECRET=new\n");
    rmSync(join(project, "late.txt"));
  });

  test("leaves nothing to the next one", async () => {
    const { run } = await openAhead();
    await run("touch /tmp/left /dev/shm/left; sleep 1000 & true");
    const { stdout } = await run("ls /tmp /dev/shm | grep left; cat /proc/[0-9]*/comm | sort -u");
    expect(stdout).toMatch(/^bash\ncat\n(?:sort\n)?$/);
  });

  test("tells how a command ended, and which one there is not", async () => {
    const { run } = await openAhead();
    expect(await run("exit 3")).toMatchObject({ ended: "exited", exitCode: 3 });
    expect(await run("kill -TERM $$")).toMatchObject({ ended: "signalled", signal: "SIGTERM" });
    const missing = { ended: "exited", exitCode: 127, stderr: "no-such: No such file or directory\n" };
    expect(await run("", { argv: ["no-such"] })).toMatchObject(missing);
    expect(await run("", { argv: ["no-such"], ...FRESH })).toMatchObject(missing);
    expect(await run("if", {})).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("bash: -c: line 2"),
    });
  });

  test("ends with Metier while it waits", async () => {
    const program = `
      import { chooseSandbox } from "@metier/sandbox";
      import { untilMade } from ${JSON.stringify(join(ROOT, "test/support/sandbox-ahead.ts"))};
      const { sandbox } = await chooseSandbox({ backend: "bubblewrap", trust: "trusted" });
      const world = { cwd: "/usr", workDir: "/usr", readable: ["/usr"], writable: [], masked: [], protectedPaths: [] };
      const limits = { timeoutMs: 10_000, maxOutputBytes: 1000 };
      process.stdout.write(await untilMade(sandbox, { argv: ["true"], world, env: {}, limits }));
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [said] = await once(parent.stdout, "data");
    const waiting = String(said);
    expect(commandLine(waiting)).toContain("metier-start");
    parent.kill("SIGKILL");
    await until("it has ended", () => commandLine(waiting) === "");
  });
});
