/** Skills that fork: who carries them out, what that agent is given, and what is refused. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { GivenAgent } from "@metier/run";
import { createScriptModel } from "@metier/run/model";
import { expect } from "vitest";
import { createRunWorld, eventsOf, openRuns, says, useSkill } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

function agent(name: string, more: Partial<GivenAgent> = {}): GivenAgent {
  return { name, systemPrompt: `You are the ${name}.`, ...more };
}

verifies(
  ["case 87", 146, 147],
  "a fork is carried out by the agent it names, from a file or an object",
  async () => {
    const world = createRunWorld({
      review: ["context: fork\nagent: Code Reviewer", "Review the change."],
      ship: ["context: fork\nagent: shipper", "Ship the change."],
    });
    world.write({
      "home/.metier/agents/code-reviewer.md":
        "---\nname: code-reviewer\ntools: Read, Grep\nmax-turns: 2\n---\n\nYou are a strict reviewer.\n",
    });
    const { metier } = await openRuns(
      world,
      [
        says("Reviewed.", {
          system: { contains: ["You are a strict reviewer.", "Review the change."] },
          tools: ["read_file", "grep_search"],
        }),
        says("Shipped.", { system: { contains: ["You are the shipper.", "Ship the change."] } }),
      ],
      { agents: [agent("shipper")] },
    );
    // `activate` gives text for the caller's own conversation, except where the skill forks.
    expect(await metier.activate({ skill: "review" })).toMatchObject({
      kind: "run",
      result: { status: "completed", text: "Reviewed." },
    });
    expect(await metier.invoke({ skill: "ship" })).toMatchObject({
      kind: "run",
      result: { text: "Shipped." },
    });
  },
);

verifies(
  ["case 87", 148],
  "a fork that names no agent gets a temporary one with the caller's tools",
  async () => {
    const world = createRunWorld({ think: ["context: fork", "Think about it."] });
    const { metier } = await openRuns(world, [
      says("Thought.", { system: { contains: ["You carry out the skill `think`", "Think about it."] } }),
    ]);
    expect(await metier.activate({ skill: "think" })).toMatchObject({
      kind: "run",
      result: { text: "Thought." },
    });
  },
);

verifies(
  ["case 87", "case 88", 147, 152],
  "an agent that is missing fails the fork and lists those there are",
  async () => {
    const world = createRunWorld({ review: ["context: fork\nagent: reviewr"] });
    const { metier } = await openRuns(world, [], { agents: [agent("reviewer"), agent("writer")] });
    const outcome = await metier.invoke({ skill: "review" });
    expect(outcome).toMatchObject({
      kind: "run",
      result: { status: "failed", error: { code: "agent.missing" } },
    });
    const message = outcome.kind === "run" ? outcome.result.error?.message : "";
    expect(message).toMatch(/`reviewr`.*Did you mean `reviewer`\? Available: `reviewer`, `writer`/);
  },
);

verifies(["case 88", 152], "a fork whose model fails is an error for the model that started it", async () => {
  const world = createRunWorld({ outer: [], review: ["context: fork"] });
  const { run } = await openRuns(world, [
    useSkill("review"),
    { answer: { error: { message: "no such model", status: 404 } } },
    says("The review failed.", {
      toolResult: { contains: ["<output>", "It failed", "no such model"] },
    }),
  ]);
  const { result, events } = await run({ skill: "outer" });
  expect(result).toMatchObject({ status: "completed", text: "The review failed." });
  expect(eventsOf(events, "tool-finished")).toMatchObject([{ tool: "use_skill", isError: true }]);
});

verifies(["case 89", 149], "only a trusted skill forks by its own word", async () => {
  const world = createRunWorld({ mine: ["context: fork"] });
  world.write({ "other/theirs/SKILL.md": skill("theirs", "context: fork") });
  const { metier } = await openRuns(world, [says("Mine.")], { paths: [`${world.root}/other`] });
  expect(await metier.invoke({ skill: "mine" })).toMatchObject({ kind: "run", result: { trust: "trusted" } });
  expect(await metier.invoke({ skill: "theirs" })).toMatchObject({
    kind: "refused",
    refusal: { reason: "trust", data: { needs: ["fork"] } },
  });
});

verifies(["case 90", 150], "cycles are named by their real path, and a diamond is none", async () => {
  const world = createRunWorld({
    direct: ["context: fork\nagent: one"],
    first: ["context: fork\nagent: two"],
    second: ["context: fork\nagent: three"],
    top: ["context: fork\nagent: four"],
    left: ["context: fork\nagent: five"],
    right: ["context: fork\nagent: five"],
    plain: [],
  });
  const { metier } = await openRuns(world, [says("A diamond.")], {
    agents: [
      agent("one", { skills: ["direct"] }),
      agent("two", { skills: ["plain", "second"] }),
      agent("three", { skills: ["first"] }),
      agent("four", { skills: ["left", "right"] }),
      agent("five"),
    ],
  });
  const errorOf = async (name: string): Promise<unknown> => {
    const outcome = await metier.invoke({ skill: name });
    return outcome.kind === "run" ? (outcome.result.error ?? outcome.result.text) : outcome;
  };
  expect(await errorOf("direct")).toMatchObject({
    code: "agent.cycle",
    message: expect.stringContaining("`direct` → agent `one` → `direct`"),
  });
  expect(await errorOf("first")).toMatchObject({
    code: "agent.cycle",
    message: expect.stringContaining("`first` → agent `two` → `second` → agent `three` → `first`"),
  });
  expect(await errorOf("top")).toBe("A diamond.");
});

verifies(["case 91", 151], "an agent is given its skills beforehand, in its order", async () => {
  const world = createRunWorld({
    review: ["context: fork\nagent: reviewer", "Review."],
    zebra: ["", "Zebra rules."],
    apple: ["", "Apple rules."],
  });
  world.write({
    "home/.metier/skills/empty/SKILL.md": "---\nname: empty\ndescription: Nothing.\n---\n",
  });
  const reviewer = agent("reviewer", { skills: ["zebra", "empty", "apple"] });
  const wrapped = (name: string): string =>
    `<skill_content name="${name}"[^>]*>\n\\w+ rules\\.\n</skill_content>`;
  const { metier } = await openRuns(
    world,
    [
      says("Done.", {
        system: { matches: `You are the reviewer[^]*${wrapped("zebra")}[^]*${wrapped("apple")}` },
      }),
    ],
    { agents: [reviewer] },
  );
  expect(await metier.invoke({ skill: "review" })).toMatchObject({ kind: "run", result: { text: "Done." } });
  const lacking = await openRuns(world, [], { agents: [agent("reviewer", { skills: ["zebra", "gone"] })] });
  expect(await lacking.metier.invoke({ skill: "review" })).toMatchObject({
    kind: "run",
    result: { status: "failed", error: { message: expect.stringContaining("`gone`") } },
  });
});

verifies(
  "case 94",
  "the model's tool lists the skills there are now, and is absent without any",
  async () => {
    const world = createRunWorld({
      only: [],
      hidden: ["disable-model-invocation: true"],
      inner: ["user-invocable: false"],
    });
    const { metier } = await openRuns(world, []);
    const useSkillOf = async (): Promise<string | undefined> => {
      const scripted = createScriptModel([{ answer: { text: "Seen." } }]);
      let offered: LanguageModelV4CallOptions["tools"];
      const model: LanguageModelV4 = {
        ...scripted,
        doStream(options) {
          offered = options.tools;
          return scripted.doStream(options);
        },
      };
      await metier.run({ skill: "only", model });
      const tool = offered?.find(({ name }) => name === "use_skill");
      return tool?.type === "function" ? tool.description : undefined;
    };
    expect(await useSkillOf()).toMatch(/Skills: inner\.$/);
    await metier.register({ name: "extra", description: "More.", instructions: "Do more." });
    expect(await useSkillOf()).toMatch(/Skills: extra, inner\.$/);
    await metier.deregister("extra");
    expect(await useSkillOf()).toMatch(/Skills: inner\.$/);
    world.write({ "home/.metier/config.toml": '[skills]\ndisabled = ["inner"]\n' });
    await metier.reload();
    expect(await useSkillOf()).toBeUndefined();
  },
);
