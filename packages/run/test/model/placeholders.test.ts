import { describe, expect, test } from "vitest";
import { type RecordedPlace, toPlaceholders } from "../../src/model/compare-request.ts";

const PLACE: RecordedPlace = {
  runId: "run-7f3a",
  workDir: "/home/me/.metier/state/runs/run-7f3a/work",
  skillDir: "/project/.metier/skills/report",
  cwd: "/project",
  clock: { from: Date.parse("2026-11-15T10:00:00Z"), to: Date.parse("2026-11-15T10:05:00Z") },
};

describe("what a run brings along is replaced", () => {
  test.each([
    ["wrote /home/me/.metier/state/runs/run-7f3a/work/a.txt", "wrote <work>/a.txt"],
    ["in /project/.metier/skills/report.", "in <skill>."],
    ["cd /project && ls /project/src", "cd <cwd> && ls <cwd>/src"],
    ["file:///project/a", "file://<cwd>/a"],
    ["run run-7f3a ended", "run <run> ended"],
    ["at 2026-11-15T10:01:02.345Z", "at <time>"],
    ["at 2026-11-15 11:01:02 +01:00", "at <time>"],
    ["at 2026-11-15 10:01:02 UTC", "at <time>"],
    ["Date: Sun, 15 Nov 2026 10:01:02 GMT", "Date: <time>"],
    ["Sun Nov 15 10:01:02 UTC 2026", "<time>"],
    ["today is 2026-11-15.", "today is <date>."],
    ["epoch 1794736862", "epoch <time>"],
    ["epoch 1794736862123", "epoch <time>"],
    ["epoch 1794736862.5", "epoch <time>"],
    ["3 passed in 0.12s", "3 passed in <duration>"],
    ["Duration 423ms", "Duration <duration>"],
    ["id 9b2f8c1e-3d4a-4f6b-8a7c-0123456789ab", "id <uuid>"],
  ])("%s", (text, expected) => {
    expect(toPlaceholders(text, PLACE)).toBe(expected);
  });
});

describe("what is data is left alone", () => {
  test.each([
    "/projects/other",
    "/old/project",
    "/project-2/a",
    "/project.bak/a",
    "due 2026-12-24",
    "at 2026-11-15T12:01:02Z",
    "at 2025-11-15T10:01:02Z",
    "Sun, 15 Nov 2026 15:00:00 GMT",
    "order 1794836862",
    "version 1.2.3 of 17947368621",
    "timeout 30s, 2 minutes, 10 seconds",
    "uuid 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "rerun-7f3a-b",
  ])("%s", (text) => {
    expect(toPlaceholders(text, PLACE)).toBe(text);
  });
});

test("a caller's folders are told apart from the own ones, and the own name counts for a shared one", () => {
  const child: RecordedPlace = {
    workDir: "/runs/b/work",
    cwd: "/project",
    parent: { ...PLACE, workDir: "/runs/a/work" },
  };
  expect(toPlaceholders("/runs/b/work /runs/a/work /project", child)).toBe("<work> <parent-work> <cwd>");
});

test("a root folder or an empty name replaces nothing", () => {
  expect(toPlaceholders("/usr/bin a", { cwd: "/", runId: "" })).toBe("/usr/bin a");
});
