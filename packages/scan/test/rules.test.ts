import { describe, expect, test } from "vitest";
import { SCAN_FIXTURES } from "../../../test/support/scan-fixtures/all.ts";
import { type RuleFixture, writeFixture } from "../../../test/support/scan-fixtures/fixture.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { listScanRules, scanRules } from "../src/rules.ts";
import { scanSkill } from "../src/scan-skill.ts";
import { isAtLeast, RULE_FAMILIES } from "../src/scanned-skill.ts";

async function ruleIds({ files, knownNames = [] }: RuleFixture): Promise<readonly string[]> {
  const directory = temporaryFolder();
  writeFixture(directory, files);
  const { findings } = await scanSkill({ directory }, { knownNames });
  return findings.map(({ id }) => id);
}

describe.each(scanRules().map(({ id }) => id))("%s", (id) => {
  const own = SCAN_FIXTURES.flatMap(({ positive, negative }) => ({
    positive: positive.filter(({ rule }) => rule === id),
    negative: negative.filter(({ rule }) => rule === id),
  }));

  test("has an example and a near miss", () => {
    expect(own.flatMap(({ positive }) => positive)).not.toEqual([]);
    expect(own.flatMap(({ negative }) => negative)).not.toEqual([]);
  });

  for (const fixture of own.flatMap(({ positive }) => positive)) {
    test(`applies to: ${fixture.what}`, async () => {
      expect(await ruleIds(fixture)).toContain(id);
    });
  }

  for (const fixture of own.flatMap(({ negative }) => negative)) {
    test(`does not apply to: ${fixture.what}`, async () => {
      expect(await ruleIds(fixture)).not.toContain(id);
    });
  }
});

test("every example belongs to a rule", () => {
  const ids = new Set(scanRules().map(({ id }) => id));
  const examples = SCAN_FIXTURES.flatMap(({ positive, negative }) => [...positive, ...negative]);
  expect(examples.filter(({ rule }) => !ids.has(rule))).toEqual([]);
});

test("rules have an id of their own, in their family, and say why and what to do", () => {
  const rules = listScanRules();
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const { id, family, title, explanation, help } of rules) {
    expect(RULE_FAMILIES).toContain(family);
    expect(id).toMatch(/^[a-z]+\.[a-z]+(?:-[a-z]+)*$/);
    expect(id.startsWith(`${family}.`)).toBe(true);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(explanation).toMatch(/\.$/);
    expect(help).toMatch(/\.$/);
  }
});

test("near misses have no finding of `high` or worse at all", async () => {
  const wrong: string[] = [];
  for (const { negative } of SCAN_FIXTURES) {
    for (const fixture of negative) {
      const directory = temporaryFolder();
      writeFixture(directory, fixture.files);
      const { findings } = await scanSkill({ directory }, { knownNames: fixture.knownNames ?? [] });
      const bad = findings.filter(({ severity }) => isAtLeast(severity, "high"));
      wrong.push(...bad.map(({ id }) => `${fixture.rule}, ${fixture.what}: ${id}`));
    }
  }
  expect(wrong).toEqual([]);
});
