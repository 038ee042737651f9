import { expect, test } from "vitest";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { plainSkills } from "../../src/adapters/plain.ts";

test("messages are added before and after: the listing, and instructions that were cut out", async () => {
  const world = createWorld();
  world.write({ "home/.metier/skills/style/SKILL.md": skill("style", "", "Be brief.") });
  const skills = await plainSkills(await world.metier());
  expect(skills.messages).toEqual([{ role: "system", content: expect.stringContaining("The style skill.") }]);
  const { text } = await skills.call("use_skill", '{"skill":"style"}');
  expect(text).toContain("Be brief.");
  expect(skills.restore([{ role: "tool", content: text }])).toEqual([]);
  expect(skills.restore([{ role: "user", content: "Go on." }])).toEqual([{ role: "system", content: text }]);
  expect((await skills.call("use_skill", { skill: "style" })).text).toContain("already");
  expect(await skills.call("use_skill", "[")).toMatchObject({ isError: true });
  expect(await skills.call("list_skills", undefined)).toMatchObject({ isError: false });
  expect([skills.has("use_skill"), skills.has("weather")]).toEqual([true, false]);
});

test("without skills there is nothing to add", async () => {
  const skills = await plainSkills(await createWorld().metier());
  expect(skills).toMatchObject({ messages: [], tools: [] });
});
