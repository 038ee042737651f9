/** The tests of one pass over the attempts to get out of the sandbox: one for each, and one for the host afterwards. */
import { existsSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { attempts } from "../security/escapes/attempts.ts";
import type { Report } from "../security/escapes/run-suite.ts";

export const ESCAPE_PATIENCE_MS = 600_000;
/** The attempts are made with Python, and where a sandbox is a must, so is it. */
export const hasPython = existsSync("/usr/bin/python3") || process.env.METIER_REQUIRE_SANDBOX === "1";

export function describeAttempts(title: string, start: () => Promise<Report>): void {
  describe(title, () => {
    let report: Report;
    beforeAll(async () => {
      report = await start();
    }, ESCAPE_PATIENCE_MS);

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
