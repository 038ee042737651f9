/** Telling a process from another that has its number. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { identifyProcess, isStillAlive } from "../src/programs.ts";

test("this process is alive, and the same each time it is asked", () => {
  expect(identifyProcess()).toMatchObject({ host: hostname(), pid: process.pid });
  expect(identifyProcess()).toEqual(identifyProcess());
  expect(isStillAlive(identifyProcess())).toBe(true);
});

test("a process that ended is not, and neither is another one with its number", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  await once(child, "spawn");
  const identity = identifyProcess(child.pid);
  expect(isStillAlive(identity)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "close");
  expect(isStillAlive(identity)).toBe(false);
  expect(isStillAlive({ ...identifyProcess(), born: "0" })).toBe(false);
});

test("of a process of another machine nothing is known", () => {
  expect(isStillAlive({ ...identifyProcess(), host: "elsewhere" })).toBeUndefined();
});
