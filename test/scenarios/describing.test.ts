/** `metier describe`: which requests a description wins, and what would win the others. */
import { join } from "node:path";
import { describeRouting, rewriteDescription } from "@metier/evals";
import { expect, test } from "vitest";
import { createTalkingModel } from "../support/talking-model.ts";
import { createWorld, type World } from "../support/world.ts";

function describedSkill(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`;
}

function createKites(): World {
  const world = createWorld();
  world.write({
    "home/.metier/skills/mend-kites/SKILL.md": describedSkill("mend-kites", "Repairs kites. Use for kites."),
    "home/.metier/skills/sew-sails/SKILL.md": describedSkill(
      "sew-sails",
      "Sews torn sails and fabric for boats.",
    ),
    "home/.metier/skills/mend-kites/evals/eval_queries.json": JSON.stringify([
      { query: "my kites need repairs", should_trigger: true },
      { query: "torn fabric on my flyer", should_trigger: true },
      { query: "sew a sail for my boat", should_trigger: false },
    ]),
  });
  return world;
}

test("lost requests are shown with who wins them and the words that would", async () => {
  const world = createKites();
  const { code, stdout } = await world.cli("describe", "mend-kites");
  expect(code).toBe(0);
  expect(stdout).toContain("mend-kites: the description routes 2 of 3 requests correctly.");
  expect(stdout).toMatch(/torn fabric on my flyer {2}goes to sew-sails/);
  const { json } = await world.cli("describe", "mend-kites", "--json");
  expect(json.before.queries[1]).toMatchObject({ winner: "sew-sails", passed: false });
});

test("another description is measured beside the old one", async () => {
  const description = "Repairs torn fabric of kites and every flyer.";
  const { json } = await createKites().cli("describe", "mend-kites", "--description", description, "--json");
  expect([json.before.passed, json.after.passed, json.after.description]).toEqual([2, 3, description]);
});

test("a word that wins a request by itself is suggested", () => {
  const plain = (name: string, description: string) => ({ name, description, manifest: { tags: [] } });
  const skills = [plain("kites", "Repairs kites."), plain("boats", "Looks after boats and harbors.")];
  const [tested] = skills;
  if (tested === undefined) throw new Error("no skill");
  const report = describeRouting(tested, skills, [{ query: "fix the spar", shouldTrigger: true }]);
  expect(report.suggestions.map(({ word }) => word)).toContain("spar");
});

test("a model's proposal is read, and a useless answer is a refusal", async () => {
  const world = createKites();
  const { json } = await world.cli("describe", "mend-kites", "--json");
  const ask = (answer: string) =>
    rewriteDescription(
      (options) => world.metier({ models: { default: createTalkingModel(() => answer) }, ...options }),
      json.before,
      {},
    );
  expect(await ask('{"description": "Repairs torn\\n kites."}')).toEqual({
    ok: true,
    value: { description: "Repairs torn kites.", used: { tokens: expect.any(Number) } },
  });
  expect(await ask("No.")).toMatchObject({ ok: false });
});

test("without queries it says which file to write", async () => {
  const world = createWorld();
  world.write({ "home/.metier/skills/a/SKILL.md": describedSkill("a", "Does a.") });
  const { code, stderr } = await world.cli("describe", "a");
  expect([code, stderr]).toEqual([2, expect.stringContaining("evals/eval_queries.json")]);
});

test("[U7] a model's description is recorded and replayed, with what it cost", async () => {
  const world = createKites();
  const script = join(world.root, "script.json");
  const answer = { text: '{"description": "Mends torn kites. Use when a kite is torn."}' };
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  world.write({
    "script.json": JSON.stringify([{ answer: { ...answer, usage } }]),
    "home/.metier/config.toml": `[models.paid]
provider = "scripted"
model = ${JSON.stringify(script)}
input-price = 2
output-price = 4
`,
  });
  const recorded = await world.cli("describe", "mend-kites", "--model", "paid", "--record", "a.jsonl");
  expect([recorded.code, recorded.stderr]).toEqual([0, ""]);
  expect(recorded.stdout).toContain("Proposed: Mends torn kites.");
  expect(recorded.stdout).toContain("1000000 tokens, $2.00");
  const replayed = await world.cli("describe", "mend-kites", "--replay", "a.jsonl");
  expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
  expect(replayed.stdout).toContain("Proposed: Mends torn kites.");
  const twice = await world.cli("describe", "mend-kites", "--replay", "a.jsonl", "--model", "paid");
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("replaces the model")]);
  const nothing = await world.cli("describe", "mend-kites", "--record", "b.jsonl");
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("--model <name>")]);
});
