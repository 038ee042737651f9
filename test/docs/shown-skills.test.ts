/** The skills that the docs show file by file (`md in <path>`, `ts in <path>`) are valid, and do what is said of them. */
import { join } from "node:path";
import { runSkillTests } from "@metier/runtime/testing";
import { expect, test } from "vitest";
import { filesShown, readDocuments } from "../support/documents.ts";
import { sandboxTest } from "../support/sandbox.ts";
import { calls, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { createWorld, type World } from "../support/world.ts";

const FILES = readDocuments().flatMap(filesShown);
const SKILLS = FILES.map(({ path }) => path).filter((path) => path.endsWith("/SKILL.md"));

/** A home that has them all, trusted. */
function withShownSkills(): World {
  const world = createWorld();
  world.write(Object.fromEntries(FILES.map(({ path, code }) => [join("home/.metier/skills", path), code])));
  return world;
}

test("there are some", () => {
  expect(SKILLS).toContain("tell-distance/SKILL.md");
});

test.each(SKILLS)("%s is valid, without a warning", async (path) => {
  const world = withShownSkills();
  const metier = await world.metier();
  const { results } = await metier.validate(join(world.home, ".metier/skills", path));
  const found = results.flatMap(({ diagnostics }) => diagnostics);
  expect(results.map(({ valid }) => valid)).toEqual([true]);
  expect(found.filter(({ severity }) => severity !== "info")).toEqual([]);
});

test("their own tests pass", async () => {
  const metier = await withShownSkills().metier();
  const skills = metier.list().map((skill) => ({ ...skill, trust: skill.trust.level }));
  const { passed, cases } = await runSkillTests(skills);
  expect(cases.flatMap(({ problems }) => problems)).toEqual([]);
  expect(passed).toBeGreaterThan(0);
});

sandboxTest("`tell-distance` brings its tool, and its hook blocks what it says", async () => {
  const { run } = await openRuns(withShownSkills(), [
    calls("tell-distance__distance", { from: "Oslo", to: "Rome" }),
    calls("tell-distance__distance", { from: "Oslo", to: "Oslo" }, { toolResult: '{"kilometres":2006}' }),
    says("0 km.", { toolResult: { contains: ["Both places are the same"] } }),
  ]);
  const { result, events } = await run({ skill: "tell-distance" });
  expect(result).toMatchObject({ status: "completed", diagnostics: [] });
  expect(result.denied).toMatchObject([{ tool: "tell-distance__distance" }]);
  expect(eventsOf(events, "hook-finished").map(({ outcome }) => outcome)).toEqual(["allow", "block"]);
});
