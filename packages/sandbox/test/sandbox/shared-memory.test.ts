/** Memory that is shared and let go of counts all the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { lookAtSharedMemory } from "../../src/sandbox/process/process-tree.ts";

const MEGABYTE = 1024 * 1024;

/** At each line it shares memory that it shows none of as its own, and at the next one gives it back. */
const PROGRAM = `
import mmap, sys
print("ready", flush=True)
while sys.stdin.readline():
    part = mmap.mmap(-1, 64 * 1024 * 1024)
    part.write(b"x" * len(part))
    part.madvise(mmap.MADV_DONTNEED)
    print("full", flush=True)
    sys.stdin.readline()
    part.close()
    print("empty", flush=True)
`;

/** What the machine shares is one number, and tests beside this one change it: tried until they are quiet. */
const MOST_TRIES = 60;

test.skipIf(!existsSync("/usr/bin/python3"))(
  "is counted against who shares, and against nobody else",
  async () => {
    const child = spawn("/usr/bin/python3", ["-c", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const turn = async (): Promise<void> => {
      const said = once(child.stdout, "data");
      child.stdin.write("\n");
      await said;
    };
    await once(child.stdout, "data");
    const sharing = [child.pid ?? 0];
    for (let tries = 1; ; tries += 1) {
      const look = lookAtSharedMemory();
      const before = look(sharing, 1024 * MEGABYTE);
      await turn();
      const seen = [before, look(sharing, 32 * MEGABYTE), look([process.pid], 32 * MEGABYTE)];
      await turn();
      if (tries < MOST_TRIES && seen[1] === undefined) {
        await wait(500);
        continue;
      }
      expect(seen).toEqual([undefined, expect.any(Number), undefined]);
      expect(seen[1]).toBeGreaterThan(32 * MEGABYTE);
      return;
    }
  },
);
