import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { makePrivateSocket } from "../../src/egress/proxy.ts";

const MODULE = new URL("../../src/egress/proxy.ts", import.meta.url).href;

test("lies in a folder of its own, which goes with it", () => {
  const before = process.listenerCount("exit");
  const [one, other] = [makePrivateSocket("a.sock"), makePrivateSocket("a.sock")];
  expect(one.path).not.toBe(other.path);
  expect(statSync(dirname(one.path)).mode & 0o777).toBe(0o700);
  one.remove();
  expect([one, other].map(({ path }) => existsSync(dirname(path)))).toEqual([false, true]);
  other.remove();
  expect(existsSync(dirname(other.path))).toBe(false);
  expect(process.listenerCount("exit")).toBe(before);
});

test("goes with a program that exits in the middle", () => {
  const program = `
    import { makePrivateSocket } from ${JSON.stringify(MODULE)};
    process.stdout.write(makePrivateSocket("a.sock").path);
    process.exit(0);`;
  const path = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  expect(path).toMatch(/\/a\.sock$/);
  expect(existsSync(dirname(path))).toBe(false);
});
