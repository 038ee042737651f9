/** Hostile toolsets: their code runs before anyone is asked, so what holds it is the sandbox and nothing else. */
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { sleepersOf, until } from "../support/processes.ts";
import { ROOT } from "../support/repository.ts";
import { describeSandbox } from "../support/sandbox.ts";
import {
  createToolsetWorld,
  type OpenedTools,
  type ToolsetWorld,
  toolset,
} from "../support/toolset-world.ts";

describeSandbox("a toolset in the sandbox", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    const chosen = await chooseSandbox({
      backend: "bubblewrap",
      limits: { memoryMb: 1024, processes: 64, workMb: 64 },
    });
    if (!chosen.sandbox) throw new Error("There is no sandbox.");
    ({ sandbox } = chosen);
  });

  interface Opened extends OpenedTools {
    readonly world: ToolsetWorld;
  }

  const IMPORTS = `import * as fs from "node:fs"; import { spawn, spawnSync } from "node:child_process";
    import net from "node:net"; const said = (act) => { try { return act(); } catch (error) { return error.code; } };`;

  async function open(runs: Readonly<Record<string, string>>): Promise<Opened> {
    const world = createToolsetWorld();
    world.write({ "home/.ssh/id_ed25519": "private", "skills/other/SKILL.md": "other", "outside.txt": "x" });
    world.code({ "a.ts": toolset(runs, IMPORTS) });
    return { world, ...(await world.open(["a:Tools"], { sandbox })) };
  }

  const READS: Readonly<Record<string, (world: ToolsetWorld) => string>> = {
    "the machine's password file": () => "/etc/shadow",
    "a key in the home folder": ({ home }) => join(home, ".ssh/id_ed25519"),
    "another skill": ({ root }) => join(root, "skills/other/SKILL.md"),
    "a file beside its folders": ({ root }) => join(root, "outside.txt"),
    "Metier's own sources": () => join(ROOT, "packages/metier/src/index.ts"),
  };
  for (const [what, path] of Object.entries(READS)) {
    test(`does not read ${what}`, async () => {
      const { world, call } = await open({ read: "return said(() => fs.readFileSync(input.path, 'utf8'))" });
      expect((await call("read", { path: path(world) })).text).toMatch(/^(?:ENOENT|EACCES|ENOTDIR)$/);
    });
  }

  test("sees no process of the machine, and no variable of ours", async () => {
    process.env.OF_THE_PARENT = "parent-value";
    onTestFinished(() => void delete process.env.OF_THE_PARENT);
    const { call } = await open({
      look: `const pids = fs.readdirSync("/proc").filter((name) => /^\\\\d+$/.test(name));
        return { count: pids.length, environment: pids.map((pid) => said(() => fs.readFileSync("/proc/" + pid + "/environ", "utf8"))) }`,
    });
    const { text } = await call("look");
    expect(JSON.parse(text).count).toBeLessThan(6);
    expect(text).not.toContain("parent-value");
  });

  test("writes to its work folder and nowhere else", async () => {
    const { world, call } = await open({
      write: "return said(() => fs.writeFileSync(input.path, 'x') ?? 'written')",
    });
    const write = async (path: string): Promise<string> => (await call("write", { path })).text;
    expect(await write(join(world.work, "mine.txt"))).toBe("written");
    const outside = [join(world.project, "x"), join(world.home, "x"), "/usr/x", "/var/x"];
    for (const path of outside) await write(path); // In its private `/tmp` it may; nobody else sees that.
    expect(outside.filter((path) => existsSync(path))).toEqual([]);
    expect(existsSync(join(world.work, "mine.txt"))).toBe(true);
    // Neither its own code nor what is bound into the sandbox to start it can be changed.
    for (const path of [
      join(world.skill, "a.ts"),
      join(ROOT, "packages/sandbox/src/sandbox/inside/toolset-host.ts"),
    ]) {
      expect(await write(path)).toBe("EROFS");
    }
  });

  test("reaches no server, not even on this machine", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.end("x");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { call } = await open({
      reach: `return await new Promise((resolve) => {
        const socket = net.connect(input.port, "127.0.0.1", () => resolve("connected"));
        socket.on("error", (error) => resolve(error.code));
      })`,
    });
    const { text } = await call("reach", { port: (server.address() as AddressInfo).port });
    expect(text).not.toBe("connected");
    expect(asked).toBe(0);
  });

  test("leaves nothing running, however it hides what it starts", async () => {
    const mark = String(randomInt(100_000, 900_000));
    const opened = await open({
      start: `spawn("setsid", ["sleep", "${mark}"], { detached: true, stdio: "ignore" }).unref();
        spawnSync("sh", ["-c", "(sleep ${mark} &) >/dev/null 2>&1"]); return "started"`,
    });
    await opened.call("start");
    await until("they run", () => sleepersOf(mark) > 0);
    await opened.close();
    await until("they are gone", () => sleepersOf(mark) === 0);
  });

  test("that starts processes without end is stopped at a limit, and can be called again", async () => {
    const opened = await open({
      fork: "for (;;) { try { spawn('sleep', ['3600']); } catch {} await null; }",
      tell: "return 'still here'",
    });
    const forked = await opened.call("fork");
    expect(forked.isError).toBe(true);
    expect(await opened.call("tell")).toEqual({ text: "still here", isError: false });
  });

  test("that takes memory without end is stopped, and can be called again", async () => {
    const opened = await open({
      grow: "const all = []; for (;;) { all.push(Buffer.alloc(16_000_000, 1)); await null; }",
      tell: "return 'still here'",
    });
    expect((await opened.call("grow")).isError).toBe(true);
    expect(await opened.call("tell")).toEqual({ text: "still here", isError: false });
  });
});
