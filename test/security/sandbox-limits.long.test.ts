/** Commands that want more than they may have are ended, whoever starts them and however they hide it. */
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cgroupHomes, chooseSandbox, countsByNamespace, groupPrefix, type Sandbox } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { AS_NOBODY, canBecomeNobody, NOBODY, SANDBOXED_COMMAND } from "../support/nobody.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { findProcesses, LIMITS, openShell, uniqueSleep, untilGone } from "../support/sandbox-shell.ts";
import { temporaryFolder } from "../support/temporary.ts";

const MEGABYTE = 1024 * 1024;
const FIVE_MEGABYTES = { ...LIMITS, maxWorkBytes: 5 * MEGABYTE };

async function open(backend: "bubblewrap" | "none"): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend, trust: "trusted" });
  if (!sandbox) throw new Error(`${backend} does not start here.`);
  return sandbox;
}

function limitConformance(backend: "bubblewrap" | "none"): void {
  test("a command that fills its work folder is ended", async () => {
    const { run } = await openShell(() => open(backend));
    const fill = "for i in {1..20}; do head -c 1000000 /dev/zero > ~/$i; done; sleep 60";
    const outcome = await run(fill, { limits: FIVE_MEGABYTES });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toMatch(/holds \d{8} bytes; the limit is 5242880/);
  });

  test("a command that fills the disk with a file it removed is ended", async () => {
    const { run } = await openShell(() => open(backend));
    const fill = "exec 5> ~/file; rm ~/file; head -c 20000000 /dev/zero >&5; sleep 60";
    const outcome = await run(fill, { limits: FIVE_MEGABYTES });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toContain("the limit is 5242880");
  });

  test("a command that stays below its limits is not disturbed", async () => {
    const { run } = await openShell(() => open(backend));
    const limits = { ...FIVE_MEGABYTES, maxProcesses: 20, maxMemoryBytes: 500 * MEGABYTE };
    const outcome = await run("head -c 1000000 /dev/zero > ~/file; sleep 1.2; echo done", { limits });
    expect(outcome).toMatchObject({ ended: "exited", exitCode: 0, stdout: "done\n" });
  });

  test("a fork bomb that waits before it starts is ended whole", async () => {
    const { run } = await openShell(() => open(backend));
    const seconds = uniqueSleep();
    // As many as it takes, and not more: it must not harm whoever runs this where limits do not hold.
    const bomb = `sleep 0.5; for i in {1..20}; do (for j in {1..10}; do sleep ${seconds} & done; wait) & done; wait`;
    const outcome = await run(bomb, { limits: { ...LIMITS, maxProcesses: 30 } });
    expect(outcome.ended).toBe("limit");
    expect(outcome.reason).toContain("the limit is 30");
    await untilGone(seconds);
  });

  test("processes that start others and end at once do not get away", async () => {
    const { run } = await openShell(() => open(backend));
    const seconds = uniqueSleep();
    const leap = `leap() { sleep ${seconds} & if [ $1 -gt 0 ]; then (leap $(($1 - 1)) &) & fi; }; leap 100; sleep 60`;
    const outcome = await run(leap, { limits: { ...LIMITS, maxProcesses: 30 } });
    expect(outcome.ended).toBe("limit");
    await untilGone(seconds);
  });

  test("a command does not have many threads instead of processes", async () => {
    const { run } = await openShell(() => open(backend));
    const start =
      "const { Worker } = require('worker_threads'); for (let i = 0; i < 20; i++) new Worker('setTimeout(() => 0, 60000)', { eval: true })";
    const outcome = await run(`node -e "${start}"`, { limits: { ...LIMITS, maxProcesses: 3 } });
    // It is ended for them, or cannot have them.
    expect(outcome).not.toMatchObject({ ended: "exited", exitCode: 0 });
    expect(outcome.ended).not.toBe("timeout");
  });

  test("no control group is left behind", async () => {
    const { run } = await openShell(() => open(backend));
    await run("sleep 0.4", { limits: { ...LIMITS, maxProcesses: 30 } });
    const own = (): readonly string[] =>
      cgroupHomes().flatMap(({ folder }) => ownGroups(folder).filter((name) => !isWaiting(folder, name)));
    for (let attempt = 0; attempt < 100 && own().length > 0; attempt += 1) {
      await new Promise((resume) => setTimeout(resume, 25));
    }
    expect(own()).toEqual([]);
  });
}

describeSandbox("limits in bubblewrap", () => limitConformance("bubblewrap"));
describe.skipIf(!existsSync("/proc/self/task"))("limits without a sandbox", () => limitConformance("none"));

describeSandbox("limits of the kernel", () => {
  test.skipIf(!canBecomeNobody())("an ordinary user's command cannot start more threads than allowed", () => {
    const folder = temporaryFolder();
    chownSync(folder, NOBODY, NOBODY);
    const limits = JSON.stringify({ maxProcesses: 8 });
    const args = [...AS_NOBODY, process.execPath, SANDBOXED_COMMAND, folder, "ulimit -u", limits];
    const { stdout } = spawnSync("setpriv", args, { encoding: "utf8" });
    expect(JSON.parse(stdout)).toMatchObject({ ended: "exited", exitCode: 0, stdout: "64\n" });
  });

  test.skipIf(process.getuid?.() === 0 || !countsByNamespace() || !existsSync("/usr/bin/prlimit"))(
    "threads are counted for the command alone",
    async () => {
      const { run } = await openShell(() => open("bubblewrap"));
      expect((await run("ulimit -u", { limits: { ...LIMITS, maxProcesses: 8 } })).stdout).toBe("64\n");
    },
  );

  test.skipIf(!cgroupHomes().some(({ controllers }) => controllers.includes("pids")))(
    "a command that lives for a moment is in a control group of its own, and Metier is not",
    async () => {
      const { run } = await openShell(() => open("bubblewrap"));
      const [home] = cgroupHomes().filter(({ controllers }) => controllers.includes("pids"));
      const limits = { ...LIMITS, maxProcesses: 30 };
      const seconds = `2.${Math.floor(Math.random() * 1_000_000)}`;
      const ended = run(`sleep ${seconds}`, { limits });
      let groups: readonly string[] = [];
      for (let attempt = 0; attempt < 90 && groups.length === 0; attempt += 1) {
        await new Promise((resume) => setTimeout(resume, 20));
        groups = groupsOf(home?.folder ?? "", findProcesses(seconds));
      }
      expect(groups).toHaveLength(1);
      expect((await ended).ended).toBe("exited");
    },
  );
});

function ownGroups(home: string): readonly string[] {
  return readdirSync(home).filter((name) => name.startsWith(groupPrefix()));
}

function membersOf(home: string, group: string): readonly string[] {
  try {
    return readFileSync(join(home, group, "cgroup.procs"), "utf8").split("\n");
  } catch {
    return []; // It was removed meanwhile.
  }
}

/** Those that have one of these processes, and not Metier. */
function groupsOf(home: string, pids: readonly string[]): readonly string[] {
  return ownGroups(home).filter((group) => {
    const members = membersOf(home, group);
    return !members.includes(String(process.pid)) && members.some((pid) => pids.includes(pid));
  });
}

/** Whether it is that of a sandbox which waits for the next command. */
function isWaiting(home: string, group: string): boolean {
  const waiting = findProcesses("metier-start");
  return membersOf(home, group).some((pid) => waiting.includes(pid));
}
