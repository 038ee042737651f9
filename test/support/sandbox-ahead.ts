/** Has every command run in a sandbox that was made ahead, which otherwise depends on how soon the next command comes. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox, SandboxCommand } from "@metier/sandbox";

/** For a sandbox that runs one command at a time. */
export function withSandboxAhead(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    async run(command) {
      await untilMade(sandbox, command);
      return sandbox.run(command);
    },
  };
}

/** With the command's limits: what waits for one that may use less or more is not for it. The number of what waits. */
export async function untilMade(
  sandbox: Sandbox,
  { stdin: _stdin, ...command }: SandboxCommand,
): Promise<string> {
  for (;;) {
    const others = findWaiting(); // Of other sandboxes of this process, or used by this command.
    // In one that was made ahead it is the third process. The first of all is only tried.
    const { stdout } = await sandbox.run({ ...command, argv: ["bash", "-c", "echo $$"] });
    const made = await lookForMade(others);
    if (made !== undefined && stdout === "3\n") return made;
  }
}

/** After so many looks it was not made: not for the first commands of all. */
const LOOKS = 100;
const PAUSE_MS = 10;

async function lookForMade(others: readonly string[]): Promise<string | undefined> {
  for (let look = 0; look < LOOKS; look += 1) {
    const found = findWaiting().find((pid) => !others.includes(pid));
    if (found !== undefined) return found;
    await pause(PAUSE_MS);
  }
  return undefined;
}

/** The inner bubblewraps, started from where the outer ones have the machine, that this process has started through these. */
function findWaiting(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const isInner = readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("/host/");
      return isInner && parentOf(parentOf(parentOf(pid))) === String(process.pid);
    } catch {
      return false; // No process, or it has ended.
    }
  });
}

function parentOf(pid: string): string {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] ?? "";
}
