/** What of `/proc` a sandboxed program does not get. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { guardProc } from "../../src/sandbox/bubblewrap/base-mounts.ts";

test.skipIf(!existsSync("/proc/sys"))(
  "all of it is read-only, keys are hidden, the first process is empty",
  () => {
    const args = guardProc("").join(" ");
    expect(args).toContain("--remount-ro /proc ");
    expect(args).toContain("--tmpfs /proc/1 --remount-ro /proc/1");
    if (existsSync("/proc/keys")) expect(args).toContain("--ro-bind /dev/null /proc/keys");
  },
);

test("names only what this kernel has: bubblewrap could not make the rest", () => {
  const args = guardProc("");
  const targets = args.flatMap((arg, index) => (arg === "--ro-bind" ? (args[index + 2] ?? []) : []));
  expect(targets.filter((path) => !existsSync(path))).toEqual([]);
});
