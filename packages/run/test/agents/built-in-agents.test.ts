import { expect, test } from "vitest";
import { findAgent, type NamedAgent } from "../../src/agents/agent.ts";

function found(agents: ReadonlyMap<string, NamedAgent>, name: string): NamedAgent | undefined {
  const lookup = findAgent(agents, name);
  return lookup.ok ? lookup.value : undefined;
}

test("the agents that skills for Claude Code name are there, and only read where their name says so", () => {
  expect(found(new Map(), "general-purpose")?.tools).toBeUndefined();
  for (const name of ["Explore", "Plan"]) {
    const tools = found(new Map(), name)?.tools ?? [];
    expect(tools).toContain("read_file");
    expect(tools).not.toContain("bash");
    expect(tools).not.toContain("write_file");
  }
});

test("an agent of the user's own stands before a built-in one of its name", () => {
  const builtIn = found(new Map(), "plan");
  if (builtIn === undefined) throw new Error("There is no built-in agent `plan`.");
  const own: NamedAgent = { ...builtIn, systemPrompt: "Plan in my way." };
  expect(found(new Map([["plan", own]]), "Plan")?.systemPrompt).toBe("Plan in my way.");
});
