import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { preloadSkills } from "../../src/agents/agent.ts";

verifies(
  ["case 91", 151],
  "skills an agent is given beforehand stand in its order, empty ones left out",
  async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/alpha/SKILL.md": skill("alpha", "", "Do alpha."),
      "home/.metier/skills/beta/SKILL.md": skill("beta", "", "Do beta."),
      "home/.metier/skills/hollow/SKILL.md": skill("hollow", "", ""),
    });
    const metier = await world.metier();
    const agent = { name: "writer", skills: ["beta", "hollow", "alpha", "beta"] };
    const loaded = await preloadSkills(agent, (name) => metier.getInstructions(name));
    if (!loaded.ok) return expect.fail(loaded.refusal.message);
    expect(loaded.value.skills).toEqual(["beta", "alpha"]);
    expect(loaded.value.text).toMatch(
      /^<skill_content name="beta"[^>]*>\nDo beta\.\n<\/skill_content>\n\n<skill_content name="alpha"/,
    );
  },
);

verifies(["case 91"], "a skill that is missing is an error that names agent and skill", async () => {
  const metier = await createWorld().metier();
  const agent = { name: "writer", skills: ["gone"] };
  const outcomes = [
    await preloadSkills(agent, (name) => metier.getInstructions(name)),
    await preloadSkills(agent, async () => undefined),
  ];
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      ok: false,
      refusal: { message: expect.stringMatching(/`writer`.*`gone`/) },
    });
  }
});

test("an agent without such skills gets no text, and a fault of the host stays one", async () => {
  const read = async (): Promise<never> => {
    throw new TypeError("broken");
  };
  expect(await preloadSkills({ name: "a", skills: [] }, read)).toEqual({
    ok: true,
    value: { text: "", skills: [] },
  });
  await expect(preloadSkills({ name: "a", skills: ["x"] }, read)).rejects.toThrow("broken");
});
