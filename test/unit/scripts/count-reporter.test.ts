import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/repository.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

/** Runs Vitest over these files in a process of its own and reads the counts it leaves. */
function countsOf(files: Readonly<Record<string, string>>, ...options: readonly string[]): unknown {
  const project = temporaryFolder();
  const counts = join(project, "counts.json");
  // Its cache is its own: how long our tests take is kept in ours.
  writeTree(project, { ...files, "vitest.config.ts": 'export default { cacheDir: "./cache" };' });
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
  const reporter = join(ROOT, "scripts/test/count-reporter.mjs");
  const args = [
    join(ROOT, "node_modules/vitest/vitest.mjs"),
    "run",
    "--root",
    project,
    `--reporter=${reporter}`,
    ...options,
  ];
  spawnSync(process.execPath, args, { env: { ...process.env, METIER_TEST_COUNTS: counts } });
  return JSON.parse(readFileSync(counts, "utf8"));
}

test("passed, failed and skipped tests are counted, and failures outside of every test", () => {
  const counts = countsOf({
    "mixed.test.ts": `
      import { describe, expect, test } from "vitest";
      test("passes", () => undefined);
      describe("a group", () => test("passes too", () => undefined));
      test("fails", () => expect(1).toBe(2));
      test.skipIf(true)("is skipped", () => undefined);
    `,
    "broken.test.ts": 'import "./no-such-file.ts";',
    "uncaught.test.ts": `
      import { test } from "vitest";
      test("passes, but leaves an error behind", () => void Promise.reject(new Error("nobody caught this")));
    `,
  });
  expect(counts).toEqual({ passed: 3, failed: 3, skipped: 1, flaky: [] });
});

test("a test that passes only when it is tried again is named", () => {
  const counts = countsOf(
    {
      "races.test.ts": `
        import { describe, expect, test } from "vitest";
        let tries = 0;
        test("is steady", () => undefined);
        describe("a group", () => test("passes the second time", () => expect(++tries).toBe(2)));
        test("never passes", () => expect(1).toBe(2));
      `,
    },
    "--retry=1",
  );
  expect(counts).toEqual({
    passed: 2,
    failed: 1,
    skipped: 0,
    flaky: ["races.test.ts > a group > passes the second time"],
  });
});
