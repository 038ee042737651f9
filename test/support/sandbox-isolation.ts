/**
 * What every backend that isolates promises about what a command can reach, as tests over any of them.
 * `filesConformance` is about files and for all; `boundaryConformance` for those that start programs of the machine.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import type { World } from "@metier/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { type OpenSandbox, openShell, type Shell, uniqueSleep } from "./sandbox-shell.ts";

/** What a command cannot reach, whoever runs it. */
export function isolationConformance(open: OpenSandbox): void {
  filesConformance(open);
  boundaryConformance(open);
}

/** What it sees and changes of the machine's files. */
export function filesConformance(open: OpenSandbox): void {
  test("shows nothing of the machine but programs and the folders of the world", async () => {
    const shell = await openShell(open);
    shell.folders.write({ "home/.ssh/id_ed25519": "key", "other/file.txt": "other" });
    for (const path of [
      "/etc/shadow",
      "/root",
      process.env.HOME ?? "/home",
      "/var/log",
      "/sys/kernel",
      join(shell.folders.home, ".ssh/id_ed25519"),
      join(shell.folders.root, "other/file.txt"),
    ]) {
      expect((await shell.run(`cat ${path} || ls -A ${path}`)).stdout).toBe("");
    }
    const { stdout } = await shell.run("cat /etc/passwd");
    expect(stdout.trim().split("\n")).toHaveLength(1);
  });

  test("shows the working directory read-only, the skill read-only and the work folder writable", async () => {
    const shell = await openShell(open);
    shell.folders.write({ "project/a.txt": "a", "skills/pdf/SKILL.md": "b" });
    const { stdout } = await shell.run("cat a.txt $METIER_SKILL_DIR/SKILL.md; echo c > ~/out.txt");
    expect(stdout).toBe("ab");
    expect(readFileSync(join(shell.folders.work, "out.txt"), "utf8")).toBe("c\n");
    for (const target of ["a.txt", "new.txt", "$METIER_SKILL_DIR/SKILL.md"]) {
      await fails(shell, `echo x > ${target}`);
    }
    for (const target of ["/usr/metier-x", "/etc/metier-x", "/metier-x", "/dev/metier-x"]) {
      await shell.run(`echo x > ${target}`);
      expect(existsSync(target)).toBe(false);
    }
    await fails(shell, "rm a.txt");
    await fails(shell, "mv a.txt b.txt");
    await fails(shell, "chmod 777 a.txt");
  });

  test("hides secrets, config files and Metier's folders inside the working directory", async () => {
    const shell = await openShell(open);
    shell.folders.write({
      "home/.metier/config.toml": "key",
      "home/.metier/skills/own/SKILL.md": "skill",
      "home/.ssh/id": "key",
      "home/notes.txt": "notes",
      "home/app/.env.local": "key",
      "home/app/config.toml": "key",
    });
    const world = shell.folders.world({
      cwd: shell.folders.home,
      privateFiles: [join(shell.folders.home, "app/config.toml")],
    });
    for (const secret of [".metier/config.toml", ".ssh/id", "app/.env.local", "app/config.toml"]) {
      await fails(shell, `grep -q key ${secret}`, world);
    }
    expect((await shell.run("cat notes.txt; ls -A .ssh", { world })).stdout).toBe("notes");
    expect((await shell.run("echo x > $METIER_WORK_DIR/y && cat $METIER_WORK_DIR/y", { world })).stdout).toBe(
      "x\n",
    );
    expect((await shell.run("ls -A .metier", { world })).stdout).toBe("state\n");
  });

  test("lets an untrusted run see its work folder and its skill only", async () => {
    const shell = await openShell(open);
    shell.folders.write({ "project/a.txt": "a", "skills/pdf/SKILL.md": "b" });
    const world = shell.folders.world({ trust: "untrusted", write: true });
    expect((await shell.run("pwd; cat $METIER_SKILL_DIR/SKILL.md", { world })).stdout).toBe(
      `${shell.folders.work}\nb`,
    );
    await fails(shell, `cat ${shell.folders.project}/a.txt`, world);
    await fails(shell, `ls ${shell.folders.project}`, world);
    await fails(shell, "echo x > $METIER_SKILL_DIR/SKILL.md", world);
  });

  test("lets `--write` change the working directory, except what other programs obey", async () => {
    const shell = await openShell(open);
    const { folders } = shell;
    folders.write({
      "project/.git/config": "config",
      "project/.git/hooks/pre-commit.sample": "hook",
      "project/.git/HEAD": "ref: refs/heads/main",
      "project/.claude/settings.json": "{}",
      "project/packages/a/.vscode/tasks.json": "{}",
      "project/packages/a/.env": "key",
    });
    const world = folders.world({ write: true });
    expect(
      (await shell.run("echo x > new.txt; mkdir d; echo y > .git/HEAD; cat .git/config", { world })).stdout,
    ).toBe("config");
    expect(readFileSync(join(folders.project, "new.txt"), "utf8")).toBe("x\n");
    expect(readFileSync(join(folders.project, ".git/HEAD"), "utf8")).toBe("y\n");
    for (const command of [
      "echo x > .git/config",
      "echo x > .git/hooks/pre-commit",
      "mv .git .git2",
      "echo /tmp/other > .git/commondir",
      "rm .git/commondir",
      "rm -r .git/hooks",
      "mv .git/config .git/config2",
      "echo x > .claude/settings.json",
      "mv .claude c",
      "mkdir .agents/skills",
      "mkdir .metier/skills",
      "echo x > .mcp.json",
      "rm -r .mcp.json",
      "echo x > .envrc",
      "echo x > .vscode/tasks.json",
      "echo x > packages/a/.vscode/tasks.json",
      "grep key packages/a/.env",
      "ln packages/a/.env copy",
    ]) {
      await fails(shell, command, world);
    }
    expect(readdirSync(folders.project).sort()).toEqual([".claude", ".git", "d", "new.txt", "packages"]);
  });

  test("finds a secret again that a run has moved together with its folder", async () => {
    const shell = await openShell(open);
    shell.folders.write({ "project/a/.env": "key" });
    const world = shell.folders.world({ write: true });
    await shell.run("mv a b", { world }); // Some backends do not let it be moved at all.
    expect((await shell.run("ls", { world })).stdout).toMatch(/^[ab]\n$/);
    await fails(shell, "cat a/.env b/.env | grep key", world);
  });
}

/** What it reaches by other means than files. */
export function boundaryConformance(open: OpenSandbox): void {
  test("has no place of the system that can be written to", async () => {
    const shell = await openShell(open);
    for (const target of ["/usr/x", "/etc/x", "/x", "/dev/x", "/root"])
      await fails(shell, `echo x > ${target}`);
  });

  test("has a `/tmp` of its own, of bounded size, gone after the command", async () => {
    const { run } = await openShell(open);
    expect((await run("echo x > /tmp/mine && ls -A /tmp | grep -c mine")).stdout.trim()).toBe("1");
    expect((await run("cat /tmp/mine")).exitCode).not.toBe(0);
    const filled = await run("head -c 400M /dev/zero > /tmp/full; stat -c %s /tmp/full");
    expect(Number(filled.stdout.trim())).toBeLessThan(300 * 1024 * 1024);
  });

  test("has no network: a server on the loopback of the machine is out of reach", async () => {
    const { run } = await openShell(open);
    const server = createServer((_request, response) => response.end("reached"));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("reached");
    const outcome = await run(`exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`);
    expect(outcome.stdout).toBe("");
    const inside = `fetch("http://127.0.0.1:${port}").then(() => console.log("reached"), () => console.log("failed"))`;
    expect((await run("", { argv: ["node", "-e", inside] })).stdout.trim()).toBe("failed");
    expect((await run("cat /proc/net/dev | grep -c :")).stdout.trim()).toBe("1");
  });

  test("reaches no socket that lies in the working directory or has an abstract name", async () => {
    const shell = await openShell(open);
    const places = [join(shell.folders.project, "daemon.sock"), `\0metier-test-${process.pid}-${Date.now()}`];
    for (const path of places) {
      const server = createSocketServer((socket) => socket.end("reached"));
      await new Promise<void>((listening) => server.listen({ path }, listening));
      onTestFinished(() => void server.close());
      const program = `const s = require("net").connect(${JSON.stringify(path)}); s.on("data", (d) => console.log(String(d))); s.on("error", () => console.log("failed"))`;
      const { stdout } = await shell.run("", { argv: ["node", "-e", program] });
      expect(stdout.trim()).toBe("failed");
    }
  });

  test("sees no process of the machine", async () => {
    const { run } = await openShell(open);
    const { stdout } = await run("ls -d /proc/[0-9]* | wc -l");
    // Bubblewrap once or twice, the shell, its copy, and the two programs.
    expect(Number(stdout)).toBeLessThan(7);
    expect((await run(`cat /proc/${process.pid}/environ | tr '\\0' '\\n' | grep PATH`)).stdout).toBe("");
  });

  test("has no capability, cannot get one, and is not root", async () => {
    const shell = await openShell(open);
    const { stdout } = await shell.run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; id -u");
    expect(stdout.match(/^Cap\w+:\s+0+$/gm)).toHaveLength(5);
    expect(stdout).toMatch(/NoNewPrivs:\s+1/);
    expect(stdout).toMatch(/Seccomp:\s+2/);
    expect(stdout.trim().split("\n").at(-1)).not.toBe("0");
    for (const command of [
      "unshare --user true",
      "unshare --mount true",
      "unshare --user --map-root-user --net true",
      "mount -t tmpfs none /tmp",
      "umount /tmp",
      "chroot / true",
      "mknod /tmp/disk b 8 0",
      "su -c true",
      "nsenter --target 1 --mount true",
    ]) {
      await fails(shell, command);
    }
  });

  test.skipIf(!existsSync("/usr/bin/python3"))("cannot trace, watch or read other processes", async () => {
    const { run } = await openShell(open);
    const program = [
      "import ctypes, os",
      "c = ctypes.CDLL(None, use_errno=True)",
      "calls = {'x86_64': [101, 310, 250, 321, 298, 425], 'aarch64': [117, 270, 219, 280, 241, 425]}[os.uname().machine]",
      "print([c.syscall(n, 0, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() for n in calls])",
    ].join("\n");
    expect((await run("", { argv: ["/usr/bin/python3", "-c", program] })).stdout.trim()).toBe(
      "[1, 1, 1, 1, 1, 1]",
    );
  });

  test("cannot be seen into by its arguments: variables stand on no command line of the machine", async () => {
    const { run } = await openShell(open);
    const secret = `secret-${uniqueSleep()}`;
    let lines = "";
    const outcome = await run('test -n "$TOKEN" && echo ready; sleep 1', {
      env: { TOKEN: secret },
      onOutput() {
        lines = readdirSync("/proc")
          .filter((pid) => /^\d+$/.test(pid))
          .map((pid) => {
            try {
              return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
            } catch {
              return ""; // It has ended.
            }
          })
          .join("\n");
      },
    });
    expect(outcome.stdout).toBe("ready\n");
    expect(lines).toContain("sleep 1");
    expect(lines).not.toContain(secret);
  });
}

async function fails(shell: Shell, command: string, world?: World): Promise<void> {
  const outcome = await shell.run(command, world ? { world } : {});
  expect(`${command}: ${outcome.ended} ${outcome.exitCode === 0 ? "succeeded" : "failed"}`).toBe(
    `${command}: ${outcome.ended} failed`,
  );
  expect(outcome.ended).not.toBe("refused");
}
