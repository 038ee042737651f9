/**
 * Every attempt to get out of the sandbox is contained, for root and for an ordinary user, and the host is unharmed. That
 * they are real is shown without a sandbox, where it does no harm: there they succeed.
 */
import { existsSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { canBecomeNobody } from "../support/nobody.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { attempts } from "./escapes/attempts.ts";
import { canShow } from "./escapes/controls.ts";
import type { Report } from "./escapes/run-suite.ts";
import { startAsNobody, startSuite } from "./escapes/start-suite.ts";

const PATIENCE_MS = 600_000;
const isRoot = process.getuid?.() === 0;
const hasPython = existsSync("/usr/bin/python3") || process.env.METIER_REQUIRE_SANDBOX === "1";

function describeAttempts(title: string, start: () => Promise<Report>): void {
  describe(title, () => {
    let report: Report;
    beforeAll(async () => {
      report = await start();
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
    describeAttempts(isRoot ? "that root has started" : "that an ordinary user has started", () =>
      startSuite({ backend: "bubblewrap" }),
    );
    describe.skipIf(!canBecomeNobody())("(root can start it as someone else)", () =>
      describeAttempts("that an ordinary user has started", () => startAsNobody({ backend: "bubblewrap" })),
    );

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
