/** The recordings that the tour replays must fit the prompts and tools of today; `scripts/record-tour.mjs` makes them. */
import { readFileSync } from "node:fs";
import { TOUR_SKILL, TOUR_TASK, writeTourProject } from "@metier/cli";
import { expect, test } from "vitest";
import { sandboxTest } from "../support/sandbox.ts";
import { createWorld } from "../support/world.ts";

sandboxTest("the tour ends with a run through the real loop, tools and sandbox", async () => {
  const world = createWorld();
  const { code, stdout, stderr } = await world.cli("tour");
  expect(stderr).toContain("▸ bash wc -w < meeting-notes.md");
  expect(stdout).toContain("loop, tools and sandbox are real");
  expect(stdout).toContain("The notes have 88 words.");
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n").at(-1)).toContain("npx metier inspect");
  expect((await world.cli("runs", "--json")).json.runs).toMatchObject([
    { skill: TOUR_SKILL, state: "completed" },
  ]);
});

test("[U16] the tour leaves room for what npm and the set-up say within 60 lines", async () => {
  const { stdout, stderr } = await createWorld().cli("tour");
  expect(`${stdout}${stderr}`.split("\n").length).toBeLessThanOrEqual(50);
});

test("without a sandbox the other recording is replayed", async () => {
  const world = createWorld({ repository: false });
  writeTourProject(world.project);
  const replay = ["--replay", `${process.cwd()}/packages/metier/recordings/tour-without-sandbox.jsonl`];
  const { code, stdout } = await world.cli("run", TOUR_SKILL, TOUR_TASK, "--approve", ...replay);
  expect([code, stdout.includes("about a hundred words")]).toEqual([0, true]);
});

test("recordings hold no path of the machine they were made on", () => {
  for (const name of ["tour", "tour-without-sandbox"]) {
    const text = readFileSync(`packages/metier/recordings/${name}.jsonl`, "utf8");
    const paths = text.match(/"(?:cwd|workDir|skillDir|location)":"[^"]*"/g) ?? [];
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !/":"\/(?:tour|metier)\//.test(path))).toEqual([]);
  }
});
