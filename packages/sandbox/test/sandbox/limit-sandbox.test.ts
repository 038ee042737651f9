/** What the config allows holds for every command, whatever its caller asks for. */
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { limitSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { countsByNamespace, withRlimits } from "../../src/sandbox/process/kernel-limits.ts";
import type { Sandbox, SandboxCommand, SandboxLimits } from "../../src/sandbox/sandbox.ts";

const MEGABYTE = 1024 * 1024;
const ALLOWED = { memoryMb: 512, processes: 20, workMb: 2 };
const ASKED = { timeoutMs: 1000, maxOutputBytes: 10 };

/** A sandbox that only notes what it was given. */
function open(): { readonly sandbox: Sandbox; readonly seen: SandboxCommand[] } {
  const seen: SandboxCommand[] = [];
  const noting: Sandbox = {
    backend: "bubblewrap",
    runsPrograms: true,
    async run(command) {
      seen.push(command);
      return { ended: "exited", exitCode: 0, stdout: "", stderr: "", droppedBytes: 0, durationMs: 0 };
    },
  };
  return { sandbox: limitSandbox(noting, ALLOWED), seen };
}

function command(limits: SandboxLimits, workDir: string = temporaryFolder()): SandboxCommand {
  const world = {
    cwd: workDir,
    workDir,
    readable: [workDir],
    writable: [workDir],
    masked: [],
    protectedPaths: [],
  };
  return { argv: ["true"], world, env: {}, limits };
}

verifies(182, "a command without limits of its own gets those of the config", async () => {
  const { sandbox, seen } = open();
  await sandbox.run(command(ASKED));
  expect(seen[0]?.limits).toEqual({
    ...ASKED,
    maxMemoryBytes: 512 * MEGABYTE,
    maxProcesses: 20,
    maxWorkBytes: 2 * MEGABYTE,
    maxFileBytes: 2 * MEGABYTE,
  });
});

test("of a limit that both set, the smaller holds", async () => {
  const { sandbox, seen } = open();
  const most = { maxMemoryBytes: 4096 * MEGABYTE, maxProcesses: 5, maxWorkBytes: 100, maxFileBytes: 10 };
  await sandbox.run(command({ ...ASKED, ...most }));
  expect(seen[0]?.limits).toEqual({ ...ASKED, ...most, maxMemoryBytes: 512 * MEGABYTE });
});

test("a command is refused while its work folder is too full", async () => {
  const { sandbox, seen } = open();
  const workDir = temporaryFolder();
  writeTree(workDir, { large: Buffer.alloc(3 * MEGABYTE, 1) });
  const outcome = await sandbox.run(command(ASKED, workDir));
  expect(outcome.ended).toBe("refused");
  expect(outcome.reason).toMatch(/holds \d+ bytes; the limit is 2097152 bytes \(`sandbox.work-mb`\)/);
  expect(seen).toEqual([]);
});

test("limits reach `prlimit` as its options, and threads only where they are counted for the command alone", () => {
  const limits = { ...ASKED, maxMemoryBytes: MEGABYTE, maxFileBytes: 10, maxProcesses: 5 };
  const outside = withRlimits("/usr/bin/prlimit", limits, ["true"]);
  expect(outside).toEqual(expect.arrayContaining(["--core=0", "--fsize=10", `--data=${1025 * MEGABYTE}`]));
  expect(outside.join(" ")).not.toContain("--nproc");
  expect(outside.slice(-2)).toEqual(["--", "true"]);
  const inside = withRlimits("/usr/bin/prlimit", limits, ["true"], true);
  expect(inside.includes("--nproc=40")).toBe(countsByNamespace());
  expect(withRlimits(undefined, limits, ["true"])).toEqual(["true"]);
});
