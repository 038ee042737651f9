/** The group of one command: over folders that stand for a hierarchy, and over the machine's own where there is one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { cgroupHomes, nameGroup } from "../../src/sandbox/process/cgroup-homes.ts";
import { mustHoldFromStart, openGroup } from "../../src/sandbox/process/kernel-limits.ts";
import { runProcess } from "../../src/sandbox/process/run-process.ts";

const LIMITS = { timeoutMs: 1000, maxOutputBytes: 1000, maxProcesses: 10, maxMemoryBytes: 1_000_000 };

describe("what is written to a group", () => {
  const read = (folder: string, file: string): string => readFileSync(join(folder, "group", file), "utf8");

  test("of version 1 are threads and memory", () => {
    const folder = temporaryFolder();
    const home = { version: 1, controllers: ["pids", "memory"], folder, passed: [] } as const;
    expect(openGroup([home], "group", LIMITS)).toBeDefined();
    expect(read(folder, "pids.max")).toBe("80");
    expect(read(folder, "memory.limit_in_bytes")).toBe("1000000");
  });

  test("of version 2 is not more than the group allows that the command leaves", () => {
    const folder = temporaryFolder();
    writeTree(folder, { "own/pids.max": "50\n", "own/memory.max": "max\n" });
    const passed = [join(folder, "own")];
    const home = { version: 2, controllers: ["pids", "memory"], folder, passed } as const;
    expect(openGroup([home], "group", LIMITS)).toBeDefined();
    expect(read(folder, "pids.max")).toBe("50");
    expect(read(folder, "memory.max")).toBe("1000000");
  });

  test("is only what a controller is there for", () => {
    const folder = temporaryFolder();
    const home = { version: 1, controllers: ["pids"], folder, passed: [] } as const;
    openGroup([home], "group", LIMITS);
    expect(existsSync(join(folder, "group", "memory.limit_in_bytes"))).toBe(false);
  });
});

test("there is no group where none can be made, and nothing fails", () => {
  const folder = join(temporaryFolder(), "missing");
  const home = { version: 1, controllers: ["pids"], folder, passed: [] } as const;
  expect(openGroup([home], "group", LIMITS)).toBeUndefined();
  expect(openGroup([], "group", LIMITS)).toBeUndefined();
});

test("a group says that the kernel ended something for its memory", () => {
  for (const file of ["memory.events", "memory.oom_control"]) {
    const folder = temporaryFolder();
    const home = { version: 2, controllers: ["memory"], folder, passed: [] } as const;
    const group = openGroup([home], "group", LIMITS);
    expect(group?.ranOutOfMemory()).toBe(false);
    writeTree(folder, { [`group/${file}`]: "oom 3\noom_kill 1\n" });
    expect(group?.ranOutOfMemory()).toBe(true);
  }
});

describe.skipIf(!cgroupHomes().some(({ controllers }) => controllers.includes("pids")))(
  "a group of this machine",
  () => {
    test("holds what its processes start, ends all of it and is removed", async () => {
      const homes = cgroupHomes();
      const name = nameGroup();
      const group = openGroup(homes, name, { ...LIMITS, maxProcesses: 1 });
      onTestFinished(() => group?.remove());
      const forks = "read line; for i in {1..20}; do sleep 60 & done; wait";
      const child = spawn("bash", ["-c", forks], { stdio: ["pipe", "ignore", "pipe"] });
      const exited = once(child, "exit"); // It may give up before it is ended.
      await group?.admit([child.pid ?? 0]);
      child.stdin.end("\n");
      let said = "";
      for await (const chunk of child.stderr) {
        said += String(chunk);
        if (said.includes("fork")) break;
      }
      expect(said).toContain("fork");
      expect(group?.members()).toHaveLength(8);
      expect(group?.members()).not.toContain(process.pid);
      group?.kill();
      await exited;
      group?.remove();
      await expect.poll(() => isThere(homes, name)).toBe(false);
    });

    test("holds a command from its start where nothing else would", async () => {
      const { stdout } = await runProcess({
        program: "/bin/sh",
        args: ["-c", "cat <&3 >&2; cat /proc/self/cgroup"],
        env: {},
        handed: ["go"],
        isHeld: true,
        limits: { ...LIMITS, timeoutMs: 30_000, maxMemoryBytes: 100_000_000 },
      });
      expect(stdout).toMatch(/pids:.*\/metier-|^0::.*\/metier-/m);
    });
  },
);

describe.skipIf(process.platform !== "linux")("a command is held from its start", () => {
  test("only for root, whose processes nothing else counts, and only where their number is limited", () => {
    expect(mustHoldFromStart({ timeoutMs: 1, maxOutputBytes: 1 })).toBe(false);
    if (process.getuid?.() !== 0) expect(mustHoldFromStart(LIMITS)).toBe(false);
  });

  test.skipIf(process.getuid?.() !== 0)("while the machine has more to do than it has cores", async () => {
    const busy = Array.from({ length: 2 * availableParallelism() + 2 }, () =>
      spawn("sh", ["-c", "ulimit -t 60; while :; do :; done"], { stdio: "ignore" }),
    );
    try {
      await vi.waitUntil(() => mustHoldFromStart(LIMITS), { timeout: 90_000, interval: 20 });
    } finally {
      for (const child of busy) child.kill("SIGKILL");
    }
  });
});

function isThere(homes: ReturnType<typeof cgroupHomes>, name: string): boolean {
  return homes.some(({ folder }) => existsSync(join(folder, name)));
}
