import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { MAX_MESSAGE, matchTriggers, type TriggeredSkill } from "../../src/find/match-triggers.ts";
import { MANIFEST_DEFAULTS } from "../../src/validate/build-manifest.ts";

type Triggers = Partial<NonNullable<TriggeredSkill["manifest"]["triggers"]>>;

function skill(name: string, triggers?: Triggers): TriggeredSkill {
  const all = { keywords: [], verbs: [], patterns: [], ...triggers };
  const manifest = { ...MANIFEST_DEFAULTS, name, ...(triggers && { triggers: all }) };
  return { name, location: `/skills/${name}/SKILL.md`, manifest };
}

async function reasonsFor(triggers: Triggers, message: string): Promise<readonly string[]> {
  const { matches } = await matchTriggers([skill("s", triggers)], message);
  return matches.flatMap(({ reasons }) => reasons.map(({ kind, trigger }) => `${kind} ${trigger}`));
}

describe("triggers", () => {
  verifies(136, "keywords, verbs and patterns suggest skills for a message, with the reasons", async () => {
    const skills = [
      skill("zebra", { keywords: ["invoice"] }),
      skill("books", { keywords: ["invoice"], verbs: ["pay"], patterns: ["INV-\\d+"] }),
      skill("apples", { verbs: ["paying"] }),
      skill("silent"),
      skill("other", { keywords: ["weather"] }),
    ];
    const { matches, diagnostics } = await matchTriggers(skills, "Please pay the invoices inv-17 and INV-18");
    expect(diagnostics).toEqual([]);
    expect(matches.map((match) => match.skill.name)).toEqual(["books", "apples", "zebra"]);
    expect(matches[0]?.reasons).toEqual([
      { kind: "keyword", trigger: "invoice" },
      { kind: "verb", trigger: "pay" },
      { kind: "pattern", trigger: "INV-\\d+" },
    ]);
  });

  test.each([
    ["release notes", "Write the Release-Notes", true],
    ["release notes", "release my notes", false],
    ["art", "start", false],
    ["c++", "Port this to C++, please", true],
    ["c++", "abc++", false],
    [".env", "read the .env file", true],
    ["node.js", "a Node.js server", true],
    ["发票", "请检查这张发票。", true],
    ["", "anything", false],
    ["--", "", false],
  ])("the keyword `%s` in `%s`: %s", async (keyword, message, found) => {
    expect(await reasonsFor({ keywords: [keyword] }, message)).toHaveLength(found ? 1 : 0);
  });

  test("a trigger that stands there twice is one reason", async () => {
    expect(await reasonsFor({ verbs: ["deploy", "deploy"] }, "deploying, deployed")).toEqual(["verb deploy"]);
  });

  test.each([
    ["that is none", "(unclosed"],
    ["with look-around", "(?=ahead)"],
    ["with a reference back by name", "(?<a>x)\\k<a>"],
    ["with a reference back by number", "(x)\\1"],
    ["that is too long", "x".repeat(2000)],
    ["that repeats too much", "((a{100}){100}){100}"],
  ])("a pattern %s is a diagnostic, and the others still work", async (_, pattern) => {
    const { matches, diagnostics } = await matchTriggers(
      [skill("s", { patterns: [pattern, "^hello"] })],
      "Hello there",
    );
    expect(matches.map(({ reasons }) => reasons)).toEqual([[{ kind: "pattern", trigger: "^hello" }]]);
    expect(diagnostics).toMatchObject([
      {
        code: "trigger.pattern",
        severity: "warning",
        path: "/skills/s/SKILL.md",
        hint: expect.any(String),
      },
    ]);
  });

  test("patterns that are too large together are left out, the first ones are kept", async () => {
    const patterns = Array.from({ length: 5 }, (_, index) => `(?:go|${"a".repeat(900)}${index})`);
    const { matches, diagnostics } = await matchTriggers([skill("s", { patterns })], "go");
    expect(matches[0]?.reasons.map(({ trigger }) => trigger)).toEqual(patterns.slice(0, 2));
    expect(diagnostics).toHaveLength(3);
  });

  test("of very many patterns only the first ones are compiled, which is said once", async () => {
    const patterns = Array.from({ length: 500 }, (_, index) => `go ${index}$`);
    const skills = [skill("s", { patterns })];
    expect((await matchTriggers(skills, "go 49")).matches).toHaveLength(1);
    const { matches, diagnostics } = await matchTriggers(skills, "go 50");
    expect(matches).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "The skill has 500 trigger patterns; only the first 50 are used.",
    ]);
  });

  test("patterns that would never end elsewhere end here", async () => {
    const hostile = ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){20}$"];
    const found = await reasonsFor({ patterns: hostile }, `${"a".repeat(MAX_MESSAGE - 1)}!`);
    expect(found).toEqual([]);
  });

  test("only the beginning of a message is looked at", async () => {
    const message = `${" ".repeat(MAX_MESSAGE)}deploy`;
    expect(await reasonsFor({ verbs: ["deploy"], patterns: ["deploy"] }, message)).toEqual([]);
  });
});
