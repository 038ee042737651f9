/** A shell in a sandbox over the folders of a test run, and the processes of the machine by a word of theirs. */
import { readdirSync, readFileSync } from "node:fs";
import type { CommandOutcome, Sandbox, SandboxCommand } from "@metier/sandbox";
import { expect } from "vitest";
import { createRunFolders, type RunFolders } from "./run-world.ts";

export type OpenSandbox = () => Promise<Sandbox>;

export const LIMITS = { timeoutMs: 30_000, maxOutputBytes: 1_000_000 };

export interface Shell {
  readonly folders: RunFolders;
  /** Runs a shell command in the world of a trusted run. */
  run(command: string, more?: Partial<SandboxCommand>): Promise<CommandOutcome>;
}

export async function openShell(open: OpenSandbox): Promise<Shell> {
  const sandbox = await open();
  const folders = createRunFolders();
  return {
    folders,
    run: (command, more = {}) =>
      sandbox.run({
        argv: ["bash", "-c", command],
        env: {},
        limits: LIMITS,
        ...more,
        world: more.world ?? folders.world(),
      }),
  };
}

/** Processes of the machine whose command line has this word. */
export function findProcesses(word: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false; // It has ended.
    }
  });
}

/** A number of seconds to sleep that no other process uses: its processes can be found by it. */
export function uniqueSleep(): string {
  return `${3600 + Math.floor(Math.random() * 1_000_000)}.${Math.floor(Math.random() * 1_000_000)}`;
}

export async function untilGone(word: string): Promise<void> {
  for (let attempt = 0; attempt < 200 && findProcesses(word).length > 0; attempt += 1) {
    await new Promise((resume) => setTimeout(resume, 25));
  }
  expect(findProcesses(word)).toEqual([]);
}
