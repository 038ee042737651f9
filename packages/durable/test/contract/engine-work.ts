/** How the contracts of engines have runs advanced: here, and in other processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { AdvanceOutcome, EngineWorker, RunEngine, RunLease } from "../../src/index.ts";
import type { Stores } from "./opened.ts";

export const ENDED = { kind: "ended" } as const;
export const PARKED = { kind: "parked" } as const;

interface Work {
  readonly slots?: number;
  readonly leaseMs?: number;
  readonly onFault?: (fault: unknown) => void;
  advance(lease: RunLease): Promise<AdvanceOutcome> | AdvanceOutcome;
}

export function startWork(
  engine: RunEngine,
  { slots = 4, leaseMs = 10_000, onFault = fail, advance }: Work,
): EngineWorker {
  return engine.work({ slots, leaseMs, onFault, advance: async (lease) => advance(lease) });
}

function fail(fault: unknown): never {
  throw fault;
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(10);
}

export interface StartedProcess {
  readonly process: ChildProcess;
  /** Waits until it has said so. */
  heard(what: string): Promise<void>;
}

/** A program of `test/support` that opens the same stores. */
export function startProcess(
  stores: Stores,
  program: string,
  place: string,
  ...values: readonly (string | number)[]
): StartedProcess {
  const script = fileURLToPath(new URL(`../support/${program}`, import.meta.url));
  const child = spawn(process.execPath, [script, stores.opener, place, ...values.map(String)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said: string[] = [];
  const faults: string[] = [];
  createInterface(child.stdout).on("line", (line) => said.push((JSON.parse(line) as { what: string }).what));
  child.stderr.on("data", (text: Buffer) => faults.push(text.toString()));
  return {
    process: child,
    async heard(what) {
      await until(() => {
        if (child.exitCode !== null) throw new Error(`The worker ended: ${faults.join("")}`);
        return said.includes(what);
      });
    },
  };
}
