import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { describeCycle, findCycle } from "../../src/agents/agent.ts";

/** `{ deploy: "ops" }` forks to an agent, `{ ops: ["deploy"] }` is given skills beforehand. */
function cycleOf(
  skill: string,
  forks: Readonly<Record<string, string | undefined>>,
  agents: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const way = findCycle(skill, {
    manifestOf: (name) =>
      name in forks ? { context: "fork", ...(forks[name] && { agent: forks[name] }) } : undefined,
    agents: new Map(Object.entries(agents).map(([name, skills]) => [name, { skills }])),
  });
  return way && describeCycle(way);
}

describe("a skill that forks", () => {
  verifies(["case 90", 150], "comes back to itself at once, or over others: the real way is named", () => {
    expect(cycleOf("deploy", { deploy: "ops" }, { ops: ["deploy"] })).toBe(
      "`deploy` → agent `ops` → `deploy`",
    );
    expect(cycleOf("a", { a: "x", c: "y" }, { x: ["b", "c"], y: ["d", "a"] })).toBe(
      "`a` → agent `x` → `c` → agent `y` → `a`",
    );
    expect(cycleOf("a", { a: "x", b: "x" }, { x: ["b"] })).toBe("`a` → agent `x` → `b` → agent `x`");
  });

  verifies(["case 90", 150], "may reach one agent in two ways: a diamond is no cycle", () => {
    expect(cycleOf("a", { a: "x", b: "y", c: "y" }, { x: ["b", "c"], y: ["d"] })).toBeUndefined();
  });

  verifies(["case 90"], "ends where there is no agent, no fork, no such agent or no skills", () => {
    expect(cycleOf("a", { a: undefined }, { x: ["a"] })).toBeUndefined();
    expect(cycleOf("a", {}, { x: ["a"] })).toBeUndefined();
    expect(cycleOf("a", { a: "missing" }, { x: ["a"] })).toBeUndefined();
    expect(cycleOf("a", { a: "x" }, { x: [] })).toBeUndefined();
    const inline = { manifestOf: () => ({ context: "inline", agent: "x" }) as const };
    expect(findCycle("a", { ...inline, agents: new Map([["x", { skills: ["a"] }]]) })).toBeUndefined();
  });

  test("finds its agent also by a name outside the grammar", () => {
    expect(cycleOf("a", { a: "Code Reviewer" }, { "code-reviewer": ["a"] })).toBe(
      "`a` → agent `code-reviewer` → `a`",
    );
  });

  test("is checked in time that grows with the graph, not with the ways through it", () => {
    const forks: Record<string, string> = { s0: "a0" };
    const agents: Record<string, readonly string[]> = {};
    for (let layer = 0; layer < 200; layer++) {
      agents[`a${layer}`] = [`l${layer}`, `r${layer}`];
      forks[`l${layer}`] = `a${layer + 1}`;
      forks[`r${layer}`] = `a${layer + 1}`;
    }
    expect(cycleOf("s0", forks, agents)).toBeUndefined(); // 2^200 ways
  });
});
