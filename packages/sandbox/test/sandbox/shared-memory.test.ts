/** Memory that is shared and let go of counts all the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { lookAtSharedMemory } from "../../src/sandbox/process/process-tree.ts";

const MEGABYTE = 1024 * 1024;

/** Shares memory, fills it when it is told to, and shows none of it as its own. */
const PROGRAM = `
import mmap, sys
part = mmap.mmap(-1, 64 * 1024 * 1024)
print("ready", flush=True)
sys.stdin.readline()
part.write(b"x" * len(part))
part.madvise(mmap.MADV_DONTNEED)
print("full", flush=True)
sys.stdin.readline()
`;

test.skipIf(!existsSync("/usr/bin/python3"))(
  "is counted against who shares, and against nobody else",
  { retry: 3 }, // What the machine shares is one number: a test beside this one that lets go of memory lowers it.
  async () => {
    const child = spawn("/usr/bin/python3", ["-c", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const look = lookAtSharedMemory();
    const sharing = [child.pid ?? 0];
    expect(look(sharing, 1024 * MEGABYTE)).toBeUndefined();
    child.stdin.write("\n");
    await once(child.stdout, "data");
    expect(look(sharing, 32 * MEGABYTE)).toBeGreaterThan(32 * MEGABYTE);
    expect(look([process.pid], 32 * MEGABYTE)).toBeUndefined();
  },
);
