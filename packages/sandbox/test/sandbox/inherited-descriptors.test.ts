/** What Metier was started with stays with Metier. */
import { spawnSync } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../../test/support/repository.ts";
import { coverInherited } from "../../src/sandbox/process/inherited-descriptors.ts";

const MODULE = join(ROOT, "packages/sandbox/src/sandbox/process/inherited-descriptors.ts");

/** Node itself closes low ones. */
const OPEN = 23;

/** Starts a program with a folder open, which answers in JSON. */
function askProgram(code: string): unknown {
  const unused = Array<"ignore">(OPEN - 3).fill("ignore");
  const program = `import { coverInherited } from ${JSON.stringify(MODULE)}; ${code}`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit", ...unused, openSync("/", "r")],
  });
  return JSON.parse(stdout);
}

test.skipIf(process.platform !== "linux")("covers what was inherited and nothing else", () => {
  const covered = askProgram(
    `console.log(JSON.stringify(coverInherited(4).slice(0, ${OPEN - 3}).map((what) => typeof what)))`,
  );
  expect(covered).toEqual([...Array(OPEN - 4).fill("string"), "number"]);
});

test.skipIf(process.platform !== "linux")("so that a program finds nothing behind it", () => {
  const list = askProgram(`
    import { spawnSync } from "node:child_process";
    const stdio = ["ignore", "pipe", "inherit"];
    const show = ["-c", "readlink /proc/self/fd/${OPEN}"];
    const [open, covered] = [stdio, [...stdio, ...coverInherited(3)]].map(
      (given) => spawnSync("sh", show, { encoding: "utf8", stdio: given }).stdout.trim(),
    );
    console.log(JSON.stringify([open, covered]));`);
  expect(list).toEqual(["/", "/dev/null"]);
});

test("has nothing to say about descriptors that come after all", () => {
  expect(coverInherited(100_000)).toEqual([]);
});
