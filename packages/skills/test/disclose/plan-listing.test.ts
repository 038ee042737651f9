import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { estimateTokens, loadTokenCounter } from "../../src/disclose/count-tokens.ts";
import { MINIMUM_BUDGET, planListing } from "../../src/disclose/plan-listing.ts";
import { renderListing } from "../../src/disclose/render-listing.ts";
import type { Skill } from "../../src/skill/skill.ts";
import { SCOPES } from "../../src/skill/skill-name.ts";
import { listedSkill } from "./listed-skill.ts";
import { readXml } from "./read-xml.ts";

const FORMATS = ["xml", "markdown", "names", "json"] as const;
const count = await loadTokenCounter();

function manySkills(number: number): readonly Skill[] {
  const topics = ["invoices & receipts", "<b>pages</b>", "日本語の文書", "releases", "x = [1, 2, 3]"];
  return Array.from({ length: number }, (_, index) =>
    listedSkill(`skill-${index}`, {
      description: `Works on ${topics[index % topics.length]}. ${"Use it when the user asks for that. ".repeat(index % 20)}`,
      scope: SCOPES[index % SCOPES.length] ?? "user",
    }),
  );
}

test("with room for everything the plan is the plain listing, up to the last token", () => {
  for (const format of FORMATS) {
    const text = renderListing(manySkills(30), { format });
    const plan = planListing(manySkills(30), { format, budget: count(text), countTokens: count });
    expect(plan.text).toBe(text);
    expect(plan.report).toMatchObject({ fits: true, shortened: [], nameOnly: [], counted: [] });
    expect(plan.report.full).toHaveLength(30);
  }
});

verifies(104, "a plan never exceeds its budget, and each skill is told, named or counted", () => {
  const pool = manySkills(400);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: MINIMUM_BUDGET, max: 9000 }),
      fc.constantFrom(...FORMATS),
      fc.constantFrom("tool" as const, "file" as const, "none" as const),
      fc.constantFrom(count, estimateTokens, (text: string) => Math.ceil(text.length / 4)),
      (number, budget, format, activation, countTokens) => {
        const skills = pool.slice(0, number);
        const { text, report } = planListing(skills, { budget, format, activation, countTokens });
        expect(countTokens(text)).toBeLessThanOrEqual(budget);
        expect(report).toMatchObject({ budget, fits: true, tokens: countTokens(text) });
        const { full, shortened, nameOnly, counted } = report;
        expect([...full, ...shortened, ...nameOnly, ...counted].sort()).toEqual(
          skills.map(({ name }) => name).sort(),
        );
        for (const name of [...full, ...shortened, ...nameOnly]) expect(text).toContain(name);
        if (counted.length > 0) expect(text).toContain(String(counted.length));
      },
    ),
    { numRuns: 60 },
  );
});

test("what does not fit is shortened for all before anyone is reduced to a name", () => {
  const skills = manySkills(40);
  const whole = count(renderListing(skills));
  const { report } = planListing(skills, { budget: Math.round(whole * 0.8), countTokens: count });
  expect(report.shortened.length).toBeGreaterThan(0);
  expect(report).toMatchObject({ nameOnly: [], counted: [] });
});

test("the nearest scopes keep their words longest", () => {
  const skills = manySkills(60);
  const { report } = planListing(skills, { budget: 1200, countTokens: count });
  const ranks = (names: readonly string[]): readonly number[] =>
    skills.filter(({ name }) => names.includes(name)).map(({ scope }) => SCOPES.indexOf(scope));
  expect(Math.min(...ranks([...report.full, ...report.shortened]))).toBeGreaterThanOrEqual(
    Math.max(...ranks(report.nameOnly)),
  );
  expect(new Set(ranks(report.nameOnly)).size).toBeGreaterThan(2);
});

test("one line says how many skills are not told and how to find them", () => {
  const options = { budget: 400, countTokens: count };
  const tool = planListing(manySkills(500), options);
  expect(tool.text.split("\n").at(-1)).toBe(
    `${tool.report.nameOnly.length} skills are listed by name only and ${tool.report.counted.length} more not at all: ` +
      "call `find_skills` with a few words about the task to find the right one.",
  );
  expect(planListing(manySkills(500), { ...options, activation: "file" }).text).toContain(
    "run `metier find`",
  );
  expect(planListing(manySkills(500), { ...options, format: "names" }).text).toMatch(
    /\n\d+ more skills are not listed: /,
  );
  expect(planListing(manySkills(500), { budget: 40, countTokens: count }).text).toMatch(
    /^500 skills are available, too many/,
  );
});

test("what is named only stays well-formed XML", () => {
  const { text, report } = planListing(manySkills(80), {
    budget: 1500,
    countTokens: count,
    activation: "none",
  });
  const [block = ""] = text.split("\n\n");
  const { children } = readXml(block);
  const names = children
    .find(({ tag }) => tag === "other_skills")
    ?.text.trim()
    .split("\n");
  expect(names?.sort()).toEqual([...report.nameOnly].sort());
});

test("ten thousand skills fit into 4000 tokens, and twice into the same ones", () => {
  const skills = manySkills(10_000);
  const plan = planListing(skills, { budget: 4000, countTokens: count });
  expect(count(plan.text)).toBeLessThanOrEqual(4000);
  expect(count(plan.text)).toBeGreaterThan(3800);
  expect(plan.report.counted.length + plan.report.nameOnly.length).toBe(10_000);
  expect(planListing(skills.toReversed(), { budget: 4000, countTokens: count })).toEqual(plan);
});

test("no more text is counted than the budget can hold, however many skills there are", () => {
  const counted = (number: number): number => {
    let characters = 0;
    const countTokens = (text: string): number => {
      characters += text.length;
      return Math.ceil(text.length / 4);
    };
    planListing(manySkills(number), { budget: 4000, countTokens });
    return characters;
  };
  expect(counted(20_000)).toBeLessThan(counted(5000) * 1.5);
});

test("a counter for which a whole is more than its parts is obeyed too", () => {
  const countTokens = (text: string): number => Math.ceil(text.length ** 1.2 / 4);
  for (const budget of [500, 2000, 10_000]) {
    const { text, report } = planListing(manySkills(100), { budget, countTokens });
    expect(countTokens(text)).toBeLessThanOrEqual(budget);
    expect(report.fits).toBe(true);
  }
});

test("a budget that nothing fits into gives the shortest text and says so", () => {
  const { text, report } = planListing(manySkills(9), { budget: 5, countTokens: count });
  expect(text).toMatch(/^9 skills are available/);
  expect(report).toMatchObject({ fits: false });
  expect(() => planListing([], { budget: 0 })).toThrow(
    "The budget is 0; it must be a positive number of tokens.",
  );
  expect(() => planListing([], { budget: Number.NaN })).toThrow("The budget is NaN");
});

test("without skills a plan is empty", () => {
  expect(planListing([], { budget: 1000 })).toMatchObject({ text: "", report: { tokens: 0, fits: true } });
});
