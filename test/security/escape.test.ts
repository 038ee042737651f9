/**
 * Every attempt to get out of the sandbox is contained, for root and for an ordinary user, and the host is unharmed. That
 * they are real is shown without a sandbox, where it does no harm: there they succeed.
 */
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { attempts } from "./escapes/attempts.ts";
import { canShow } from "./escapes/controls.ts";
import type { Report } from "./escapes/run-suite.ts";
import { SUITE, type SuiteRequest, startSuite } from "./escapes/start-suite.ts";

const PATIENCE_MS = 600_000;
const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", "--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups"];
const isRoot = process.getuid?.() === 0;
const hasPython = existsSync("/usr/bin/python3") || process.env.METIER_REQUIRE_SANDBOX === "1";

/** Only root can, and only where others may read this repository and its Node. */
function canBecomeNobody(): boolean {
  const [program = "", ...args] = AS_NOBODY;
  return isRoot && spawnSync(program, [...args, process.execPath, "--check", SUITE]).status === 0;
}

function describeAttempts(title: string, request: SuiteRequest): void {
  describe(title, () => {
    let report: Report;
    beforeAll(async () => {
      report = await startSuite(request);
    }, PATIENCE_MS);

    for (const { id, tries } of attempts) {
      test(`cannot ${tries} (${id})`, () => {
        const trial = report.trials.find((candidate) => candidate.id === id);
        expect(trial).toMatchObject({ verdict: "contained" });
      });
    }

    test("leaves the host unharmed", () => {
      expect(report).toMatchObject({ isUnharmed: true });
    });
  });
}

test("there are at least eighty attempts, each with a name of its own", () => {
  const names = new Set(attempts.map(({ id }) => id));
  expect(names.size).toBe(attempts.length);
  expect(names.size).toBeGreaterThanOrEqual(80);
});

describeSandbox("a program in bubblewrap", () => {
  describe.skipIf(!hasPython)("(its attempts are made with /usr/bin/python3)", () => {
    describeAttempts(isRoot ? "that root has started" : "that an ordinary user has started", {
      backend: "bubblewrap",
    });

    describe.skipIf(!canBecomeNobody())("(root starts it as an ordinary user)", () => {
      const folder = canBecomeNobody() ? mkdtempSync(join(tmpdir(), "metier-test-")) : "";
      beforeAll(() => chownSync(folder, NOBODY, NOBODY));
      afterAll(() => rmSync(folder, { recursive: true, force: true }));
      describeAttempts("that an ordinary user has started", {
        backend: "bubblewrap",
        through: AS_NOBODY,
        folder,
      });
    });

    test(
      "would succeed without a sandbox, wherever that does no harm",
      async () => {
        const { trials } = await startSuite({ backend: "none" });
        expect(trials.filter(({ verdict }) => verdict !== "escaped")).toEqual([]);
        expect(trials).toHaveLength(attempts.filter(canShow).length);
      },
      PATIENCE_MS,
    );
  });
});
