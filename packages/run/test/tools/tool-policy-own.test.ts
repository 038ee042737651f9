/** What the tool policy makes of a skill's own tools, whose id is `skill:tool`. */
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ToolLists } from "../../src/tools/policy-rules.ts";
import type { PolicyDecision, ToolPolicyOptions } from "../../src/tools/tool-policy.ts";
import { lists, policy } from "./tool-policy-world.ts";

const OWN = { skill: "pdf", tools: ["extract", "bash"] };

function ofPdf(given: Partial<ToolLists>): ToolLists {
  return lists({ own: OWN, ...given });
}

async function answerTo(id: string, options: Partial<ToolPolicyOptions>): Promise<PolicyDecision["answer"]> {
  return (await policy(options).decide(id, "execute", {})).answer;
}

describe("the list of the skill", () => {
  verifies(154, "approves its own tools by each of their names", async () => {
    for (const written of ["extract", "pdf:extract", "pdf__extract", "pdf:*", "pdf__*", "ex*", "*"]) {
      const list = ofPdf({ allowedTools: [written] });
      expect([written, await answerTo("pdf:extract", { lists: [list] })]).toEqual([written, "allow"]);
      expect(policy({ lists: [list] }).diagnostics).toEqual([]);
    }
  });

  test("does not restrict its own tools, but those of another skill", () => {
    const tools = ["pdf:extract", "other:extract", "pdf:unknown"].map((id) => ({ name: id, id }));
    const { visible } = policy({ lists: [ofPdf({ allowedTools: ["Read"] })] });
    expect(visible(tools).map(({ id }) => id)).toEqual(["pdf:extract"]);
  });

  test("means Metier's own tool where a name is that of both", async () => {
    const list = ofPdf({ allowedTools: ["Bash"] });
    expect(await answerTo("bash", { lists: [list] })).toBe("allow");
    expect(await answerTo("pdf:bash", { lists: [list] })).toBe("ask");
    expect(await answerTo("pdf:bash", { lists: [ofPdf({ allowedTools: ["pdf:bash"] })] })).toBe("allow");
    const denying = policy({ lists: [ofPdf({ disallowedTools: ["Bash"] })] });
    const tools = [{ name: "bash" }, { name: "pdf__bash", id: "pdf:bash" }];
    expect(denying.visible(tools).map(({ name }) => name)).toEqual(["pdf__bash"]);
  });

  test("names no tool of another skill by its own name alone", async () => {
    const list = ofPdf({ allowedTools: ["extract", "Read"] });
    expect(await answerTo("other:extract", { lists: [{ ...list, isIsolated: false }] })).toBe("ask");
  });

  test("that names what does not exist is reported, where it can be known", () => {
    const codes = (given: Partial<ToolLists>): readonly string[] =>
      policy({ lists: [lists(given)] }).diagnostics.map(({ code, hint }) => `${code} ${hint}`);
    const allowedTools = ["pdf:extrakt", "extracts", "other:tool"];
    expect(codes({ allowedTools, own: OWN })).toEqual([
      expect.stringContaining("tools.unknown"),
      expect.stringMatching(/tools\.unknown .*`extract`/),
      expect.stringContaining("tools.unknown"),
    ]);
    expect(codes({ allowedTools, own: { skill: "pdf" } })).toHaveLength(1);
    expect(codes({ allowedTools: ["other:tool"] })).toEqual([]);
  });
});

describe("the configuration", () => {
  test("names a skill's tool with its skill", async () => {
    expect(await answerTo("pdf:extract", { config: { "pdf:extract": "allow" } })).toBe("allow");
    expect(await answerTo("pdf:extract", { config: { pdf__extract: "allow" } })).toBe("allow");
    expect(await answerTo("pdf:extract", { config: { extract: "allow" } })).toBe("ask");
    expect(await answerTo("pdf:extract", { config: { "pdf:*": "deny" } })).toBe("deny");
    expect(policy({ config: { "other:tool": "deny" } }).diagnostics).toEqual([]);
  });

  test("may name it alone where tools are not told apart by skill", async () => {
    const isBare = true;
    expect(await answerTo("pdf:extract", { isBare, config: { extract: "deny" } })).toBe("deny");
    expect(await answerTo("pdf:extract", { isBare, config: { "pdf:extract": "deny" } })).toBe("deny");
    expect(await answerTo("pdf:bash", { isBare, config: { bash: "deny" } })).toBe("ask");
  });

  test("finds a tool whose exported name had to be changed", async () => {
    const id = `${"long-name-of-a-skill".repeat(3)}:extract`;
    expect(await answerTo(id, { config: { [id]: "deny" } })).toBe("deny");
    expect(await answerTo("日本:読む", { config: { "日本:*": "deny" } })).toBe("deny");
  });
});

test("a question and a denial name the tool with its skill", async () => {
  const asked = await policy().decide("pdf:extract", "execute", {});
  expect(asked.rule).toBe("`pdf:extract` asks by default");
  const denied = await policy({ config: { "pdf:*": "deny" } }).decide("pdf:extract", "execute", {});
  expect(denied.message).toContain("`pdf:extract` was not allowed");
});
