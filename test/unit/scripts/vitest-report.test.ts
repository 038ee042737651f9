import { join } from "node:path";
import { expect, test } from "vitest";
import { addCounts, readVitestReport } from "../../../scripts/test/vitest-report.mjs";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

function reportFile(report: object): string {
  const folder = temporaryFolder();
  writeTree(folder, { "report.json": JSON.stringify(report) });
  return join(folder, "report.json");
}

const CLEAN = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1, testResults: [] };

test("passed, failed and skipped tests are counted", () => {
  expect(readVitestReport(reportFile(CLEAN), 0)).toEqual({ passed: 5, failed: 0, skipped: 3 });
  expect(readVitestReport(reportFile({ ...CLEAN, numFailedTests: 2 }), 1).failed).toBe(2);
});

test("a test file that cannot be loaded counts as failed", () => {
  const testResults = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{}] },
    { status: "passed", assertionResults: [{}] },
  ];
  expect(readVitestReport(reportFile({ ...CLEAN, numFailedTests: 1, testResults }), 1).failed).toBe(2);
});

test("a run that fails outside of every test counts as failed", () => {
  expect(readVitestReport(reportFile(CLEAN), 1).failed).toBe(1);
});

test("a run that leaves no report counts as failed", () => {
  const missing = join(temporaryFolder(), "report.json");
  expect(readVitestReport(missing, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("counts add up", () => {
  const sum = addCounts({ passed: 1, failed: 2, skipped: 3 }, { passed: 10, failed: 20, skipped: 30 });
  expect(sum).toEqual({ passed: 11, failed: 22, skipped: 33 });
});
