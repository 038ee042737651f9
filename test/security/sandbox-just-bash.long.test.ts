/** The just-bash backend keeps what the contract of a sandbox says about a shell, and starts nothing. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { shellConformance } from "../support/sandbox-conformance.ts";
import { filesConformance } from "../support/sandbox-isolation.ts";
import { LIMITS, openShell } from "../support/sandbox-shell.ts";

async function open(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "just-bash", trust: "trusted" });
  if (!sandbox) throw new Error("just-bash does not start here.");
  return sandbox;
}

describe.skipIf(process.platform === "win32")("the interpreted shell", () => {
  describe("runs commands", () => shellConformance(open));
  describe("sees the world of its run", () => filesConformance(open));

  test("says of programs that it has none, and how to have a sandbox that does", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "skills/pdf/scripts/run.py": "#!/usr/bin/env python3\nprint('ran')\n" });
    chmodSync(join(folders.skill, "scripts/run.py"), 0o755);
    for (const command of [
      "python3 -c 1",
      "node -e 1",
      "git status",
      "curl example.com",
      "/usr/bin/python3",
      "sqlite3 x",
    ]) {
      const { exitCode, stdout, stderr } = await run(command);
      expect(`${command}: ${exitCode} ${stdout}`).toBe(`${command}: 127 `);
      expect(stderr).toContain("backend `just-bash`");
      expect(stderr).toMatch(/bubblewrap|metier doctor/);
    }
    const script = await run("$METIER_SKILL_DIR/scripts/run.py");
    expect(script).toMatchObject({ exitCode: 126, stdout: "" });
    expect(script.stderr).toContain("backend `just-bash`");
    expect((await run("command -v python3 || echo none")).stdout).toBe("none\n");
  });

  test("gives the shells that a command starts its variables", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "project/show.sh": 'echo "$TOKEN $METIER_WORK_DIR"' });
    const { stdout } = await run("bash show.sh; sh -c 'echo $TOKEN'", { env: { TOKEN: "t" } });
    expect(stdout).toBe(`t ${folders.work}\nt\n`);
  });

  test("runs shell scripts of the skill, and text tools over files and pipes", async () => {
    const { run, folders } = await openShell(open);
    folders.write({
      "skills/pdf/scripts/count.sh": '#!/bin/sh\necho "$1 has $(wc -l < "$1") lines"\n',
      "project/data.json": '{"names": ["b", "a"]}\n',
    });
    chmodSync(join(folders.skill, "scripts/count.sh"), 0o755);
    expect((await run("$METIER_SKILL_DIR/scripts/count.sh data.json")).stdout).toBe(
      "data.json has 1 lines\n",
    );
    const { stdout } = await run("jq -r '.names[]' data.json | sort | sed 's/^/- /' | tee ~/list.txt");
    expect(stdout).toBe("- a\n- b\n");
    expect(readFileSync(join(folders.work, "list.txt"), "utf8")).toBe(stdout);
    expect((await run("", { argv: ["sh", "-c", 'echo "$0 $1"', "name", "word"] })).stdout).toBe(
      "name word\n",
    );
  });

  test("goes on after a redirection that is refused, without having run its command", async () => {
    const { run, folders } = await openShell(open);
    const { stdout, stderr } = await run(
      "rm -f ~/x; { touch ~/x; echo y; } > new.txt || echo failed; echo after",
    );
    expect(stdout).toBe("failed\nafter\n");
    expect(stderr).toContain("new.txt (read-only for this run)");
    expect(readdirSync(folders.work)).toEqual([]);
    expect((await run("echo x > $METIER_WORK_DIR/none/x || echo no folder")).stdout).toBe("no folder\n");
  });

  test("follows links where they lead in its world, and never out of it", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "project/a.txt": "a", "outside/secret.txt": "secret" });
    symlinkSync("a.txt", join(folders.project, "inside"));
    symlinkSync(join(folders.root, "outside"), join(folders.project, "folder"));
    symlinkSync(join(folders.root, "outside/secret.txt"), join(folders.work, "file"));
    symlinkSync("round", join(folders.project, "round"));
    expect((await run("cat inside")).stdout).toBe("a");
    for (const command of [
      "cat folder/secret.txt",
      "ls folder/",
      "cat ~/file",
      "cat round",
      "echo x > ~/file",
    ]) {
      const { exitCode, stdout } = await run(command);
      expect(`${command}: ${exitCode === 0} ${stdout}`).toBe(`${command}: false `);
    }
    expect(readFileSync(join(folders.root, "outside/secret.txt"), "utf8")).toBe("secret");
    expect((await run("ln -s /etc ~/link")).exitCode).not.toBe(0);
    expect((await run("ln a.txt ~/other-name")).exitCode).not.toBe(0);
  });

  test("has a `/tmp` in memory that is gone after the command, and leaves the machine's alone", async () => {
    const { run, folders } = await openShell(open);
    const { stdout } = await run(
      "echo x > /tmp/metier-mine && cat /tmp/metier-mine; rm -rf /tmp/* 2>/dev/null; ls ~/..",
    );
    expect(stdout).toBe("x\nwork\n");
    expect(existsSync("/tmp/metier-mine")).toBe(false);
    expect(statSync(folders.project).isDirectory()).toBe(true);
    expect((await run("cat /tmp/metier-mine")).exitCode).not.toBe(0);
  });

  test("keeps a folder where it is as long as something in it is hidden or read-only by its path", async () => {
    const { run, folders } = await openShell(open);
    folders.write({ "project/app/config.toml": "key", "project/app/other.txt": "o" });
    const world = folders.world({ write: true, privateFiles: [join(folders.project, "app/config.toml")] });
    expect((await run("mv app moved", { world })).exitCode).not.toBe(0);
    expect((await run("cat app/config.toml moved/config.toml", { world })).stdout).toBe("");
    expect((await run("mkdir app/other.txt || mkdir -p app/a/b && ls app/a", { world })).stdout).toBe("b\n");
    expect((await run("mv app/other.txt app/new.txt && cat app/new.txt", { world })).stdout).toBe("o");
  });

  test("holds files, the work folder and memory to their limits", async () => {
    const { run, folders } = await openShell(open);
    const file = await run('printf "%020000d" 1 > ~/file', { limits: { ...LIMITS, maxFileBytes: 10_000 } });
    expect(file.exitCode).toBe(1);
    expect(file.stderr).toContain("too large");
    expect(statSync(join(folders.work, "file")).size).toBe(0);
    const filling = await run('printf "%0100000d" 1 > ~/a; while :; do cat ~/a >> ~/b; sleep 0.01; done', {
      limits: { ...LIMITS, maxWorkBytes: 1_000_000 },
    });
    expect(filling.ended).toBe("limit");
    expect(filling.reason).toContain("the limit is 1000000");
    const doubling = await run("x=a; while :; do x=$x$x; done");
    expect(doubling.ended).toBe("limit");
    expect(doubling.reason).toContain("exceeded");
    const deep = await run("f() { f; }; f");
    expect(deep).toMatchObject({ ended: "limit" });
    const limits = { ...LIMITS, maxMemoryBytes: 128 * 1024 * 1024 };
    const list = await run('i=0; while :; do a[i]="$i-012345678901234567890123456789"; i=$((i+1)); done', {
      limits,
    });
    expect(list.ended).toBe("limit");
    expect(list.reason).toMatch(/memory|exceeded/);
  });

  test("reaches no network", async () => {
    const { run } = await openShell(open);
    expect((await run("exec 3<>/dev/tcp/127.0.0.1/80 && echo connected")).stdout).toBe("");
    expect((await run("curl http://127.0.0.1/")).exitCode).toBe(127);
  });

  test("starts no program of the machine, also when one lies in the world and on PATH", async () => {
    const { run, folders } = await openShell(open);
    mkdirSync(join(folders.work, "bin"));
    for (const name of ["python3", "ls", "canary"]) {
      writeFileSync(
        join(folders.work, "bin", name),
        `#!/usr/bin/perl\nopen(F, ">", "${folders.work}/ran");\n`,
        { mode: 0o755 },
      );
    }
    const env = { PATH: `${folders.work}/bin:/usr/bin:/bin` };
    await run("ls; python3; canary; ~/bin/canary; bash ~/bin/canary; env canary; xargs canary < /dev/null", {
      env,
    });
    expect(existsSync(join(folders.work, "ran"))).toBe(false);
  });
});
