/** The command line as a process of its own, which can run beside others and be killed, and what must hold afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { findDifference, storeFolder } from "@metier/skills/trust";
import { expect } from "vitest";
import { COMPILED_CODE } from "./compiled-code.ts";
import type { InstallWorld } from "./installing.ts";
import { until } from "./processes.ts";
import { ROOT } from "./repository.ts";

export function startCli(world: InstallWorld, ...args: readonly string[]): ChildProcess {
  const main = join(ROOT, "packages/cli/src/main.ts");
  return spawn(process.execPath, [main, ...args, "--home", world.home], {
    cwd: world.project,
    env: { ...COMPILED_CODE, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" },
    stdio: "ignore",
  });
}

export async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, "exit");
  return code as number | null;
}

/** Every skill that the lock records is in the store, byte for byte. */
export function expectWhole(world: InstallWorld): void {
  for (const entry of world.lock().skills) {
    expect(findDifference(storeFolder(world.places, entry), entry.digest)).toBeUndefined();
  }
}

/** Kills it as soon as the moment has come; it may have ended before. */
export async function killAt(child: ChildProcess, moment: () => boolean): Promise<void> {
  await until("the moment has come", () => child.exitCode !== null || moment());
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
