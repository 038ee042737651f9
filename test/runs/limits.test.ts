/** Every limit ends a run as `limited`, with the text so far; what nested runs use counts for those that started them. */
import type { RunLimits, RunRequest } from "@metier/run";
import { createScriptModel, type ScriptedTurn } from "@metier/run/model";
import { createMetierUnder } from "@metier/runtime";
import { expect, test } from "vitest";
import { withGrowingTime } from "../support/growing-time.ts";
import { createRunWorld, eventsOf, openRuns, programTool, says, useSkill } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";

const look = programTool("look", "Nothing to see.");

/** A step that says something and goes on. */
function step(text: string, more: ScriptedTurn["answer"] = {}): ScriptedTurn {
  return { answer: { text, toolCalls: [{ tool: "look", input: {} }], ...more } };
}

const PRICED = { inputTokens: 1_000_000, outputTokens: 0 };

const LIMITS: readonly {
  readonly limit: string;
  readonly limits: Partial<RunLimits>;
  readonly script: readonly ScriptedTurn[];
  readonly text: string;
}[] = [
  {
    limit: "iterations",
    limits: { maxIterations: 2 },
    script: [step("First."), step("Second.")],
    text: "Second.",
  },
  {
    limit: "tokens",
    limits: { maxTokens: 30 },
    script: [step("First."), step("Second.")],
    text: "Second.",
  },
  {
    limit: "output",
    limits: { maxOutputBytes: 50 },
    script: [step("First."), says("word ".repeat(40))],
    text: "word word",
  },
];

test("the limit of time ends a run with the text so far", async () => {
  const script = [step("First."), { answer: { text: "Never said.", delayMs: 600_000 } }];
  const { outcome } = await withGrowingTime(
    async (timeoutMs) => {
      const { run } = await openRuns(createRunWorld({ echo: [] }), script, { tools: [look] });
      return run({ skill: "echo", limits: { timeoutMs } });
    },
    ({ result }) => result.iterations === 2,
  );
  expect(outcome.result).toMatchObject({ status: "limited", limit: "time", text: "First." });
  expect(eventsOf(outcome.events, "limit-reached")).toMatchObject([{ limit: "time" }]);
  expect(outcome.events.at(-1)).toMatchObject({ type: "run-finished", status: "limited", limit: "time" });
});

for (const { limit, limits, script, text } of LIMITS) {
  test(`the limit of ${limit} ends a run with the text so far`, async () => {
    const world = createRunWorld({ echo: [] });
    const { run } = await openRuns(world, script, { tools: [look] });
    const { result, events } = await run({ skill: "echo", limits });
    expect(result).toMatchObject({ status: "limited", limit, iterations: 2 });
    expect(result.text.startsWith(text)).toBe(true);
    expect(eventsOf(events, "limit-reached")).toMatchObject([{ limit }]);
    expect(events.at(-1)).toMatchObject({ type: "run-finished", status: "limited", limit });
  });
}

test("text beyond the output limit is cut off soon after it", async () => {
  const world = createRunWorld({ echo: [] });
  const { run } = await openRuns(world, [says("word ".repeat(2000))]);
  const { result } = await run({ skill: "echo", limits: { maxOutputBytes: 50 } });
  expect(result.limit).toBe("output");
  expect(result.text.length).toBeLessThan(500);
});

test("what a model writes as the input of a tool counts for the output limit", async () => {
  const { run } = await openRuns(
    createRunWorld({ echo: [] }),
    [{ answer: { toolCalls: [{ tool: "look", input: { text: "word ".repeat(2000) } }] } }],
    { tools: [look] },
  );
  const { result } = await run({ skill: "echo", limits: { maxOutputBytes: 50 } });
  expect(result).toMatchObject({ status: "limited", limit: "output" });
});

verifies([206], "a cost budget ends a run, by the prices of the config", async () => {
  const world = createRunWorld({ echo: [] });
  const script = [step("First.", { usage: PRICED }), step("Second.", { usage: PRICED })];
  world.write({
    "project/script.json": JSON.stringify(script),
    "home/.metier/config.toml": [
      `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(`${world.project}/script.json`)}`,
      "input-price = 3\noutput-price = 15",
      "[runs]\nmax-cost = 5\n",
    ].join("\n"),
  });
  const metier = await world.metier({ tools: [look] });
  const result = await metier.run({ skill: "echo" });
  expect(result).toMatchObject({ status: "limited", limit: "cost", iterations: 2, text: "Second." });
});

test("the config's limits hold where neither skill nor call says otherwise; a policy's hold in any case", async () => {
  const world = createRunWorld({ echo: [], eager: ["max-iterations: 50"] });
  world.write({
    "home/.metier/config.toml": "[runs]\nmax-iterations = 2\n",
    "policy.toml": "[runs]\nmax-iterations = 3\nmax-tokens = 1000\n",
  });
  const limitsUnder = async (policy: string | undefined, request: RunRequest): Promise<RunLimits> => {
    const { home, project: cwd } = world;
    const models = { default: createScriptModel([]) };
    const metier = await createMetierUnder(policy, { home, cwd, environment: {}, models });
    const planned = await metier.plan(request);
    if (!planned.ok) throw new Error(planned.result.error?.message);
    return planned.outline.limits;
  };
  const absent = `${world.root}/no-policy.toml`;
  const policy = `${world.root}/policy.toml`;
  const asked = { skill: "echo", limits: { maxIterations: 70, maxTokens: 5000 } };
  expect(await limitsUnder(absent, { skill: "echo" })).toMatchObject({ maxIterations: 2 });
  expect(await limitsUnder(absent, { skill: "eager" })).toMatchObject({ maxIterations: 50 });
  expect(await limitsUnder(absent, asked)).toMatchObject({ maxIterations: 70, maxTokens: 5000 });
  expect(await limitsUnder(policy, { skill: "echo" })).toMatchObject({ maxIterations: 2, maxTokens: 1000 });
  expect(await limitsUnder(policy, { skill: "eager" })).toMatchObject({ maxIterations: 3 });
  expect(await limitsUnder(policy, asked)).toMatchObject({ maxIterations: 3, maxTokens: 1000 });
});

verifies([206], "tokens of nested runs are summed into their parents, and spend their budget", async () => {
  const world = createRunWorld({ outer: [], middle: ["max-iterations: 5"], inner: ["max-iterations: 5"] });
  const { run } = await openRuns(world, [
    useSkill("middle"),
    useSkill("inner"),
    says("Innermost."),
    says("Middle."),
    says("Outer."),
  ]);
  const { result, events } = await run({ skill: "outer" });
  expect(result).toMatchObject({ status: "completed", text: "Outer.", iterations: 2 });
  const totals = eventsOf(events, "run-finished").map(({ usage }) => usage.totalTokens);
  expect(totals).toEqual([15, 45, 75]);
  expect(result.usage.totalTokens).toBe(75);
});

test("a nested run ends when its caller's tokens are used up, and then its caller does", async () => {
  const world = createRunWorld({ outer: [], inner: ["max-iterations: 5"] });
  const { run } = await openRuns(world, [useSkill("inner"), step("Inner, unfinished.")], { tools: [look] });
  const { result, events } = await run({ skill: "outer", limits: { maxTokens: 30 } });
  expect(result).toMatchObject({ status: "limited", limit: "tokens", iterations: 1 });
  expect(eventsOf(events, "run-finished").map(({ status, limit }) => [status, limit])).toEqual([
    ["limited", "tokens"],
    ["limited", "tokens"],
  ]);
});

test("a nested run whose caller has nothing left does not ask a model", async () => {
  const world = createRunWorld({ outer: [], inner: ["max-iterations: 5"] });
  const { run } = await openRuns(world, [useSkill("inner")]);
  const { events } = await run({ skill: "outer", limits: { maxTokens: 15 } });
  expect(
    eventsOf(events, "run-finished").map(({ status, limit, iterations }) => [status, limit, iterations]),
  ).toEqual([
    ["limited", "tokens", 0],
    ["limited", "tokens", 1],
  ]);
});

verifies(
  ["case 79", "case 92"],
  "skills run inside one another only so deep, and the refusal says how they stand",
  async () => {
    const world = createRunWorld({
      one: ["max-iterations: 4"],
      two: ["max-iterations: 4"],
      three: ["max-iterations: 4"],
    });
    const { run } = await openRuns(
      world,
      [
        useSkill("two"),
        useSkill("three"),
        says("Without it.", { toolResult: { contains: ["one → two → three", "at most 2"] } }),
        says("Done."),
      ],
      { config: { runs: { "max-depth": 2 } } },
    );
    const { result, events } = await run({ skill: "one" });
    expect(result).toMatchObject({ status: "completed", text: "Done." });
    expect(eventsOf(events, "run-started").map(({ skill, depth }) => [skill, depth])).toEqual([
      ["one", 0],
      ["two", 1],
    ]);
  },
);

verifies("case 92", "a skill cannot start itself, or one that is running further out", async () => {
  const world = createRunWorld({ ping: ["max-iterations: 4"], pong: ["max-iterations: 4"] });
  const { run } = await openRuns(world, [
    useSkill("pong"),
    useSkill("ping"),
    says("No ping.", { toolResult: "ping → pong → ping" }),
    useSkill("ping"),
    says("Done.", { toolResult: "ping" }),
  ]);
  const { result, events } = await run({ skill: "ping" });
  expect(result).toMatchObject({ status: "completed", text: "Done." });
  expect(eventsOf(events, "run-started").map(({ skill }) => skill)).toEqual(["ping", "pong"]);
});

test("an answer that the provider cut at its length is limited, and one it withheld has failed", async () => {
  const world = createRunWorld({ echo: [] });
  const cut = await openRuns(world, [{ answer: { text: "Half", finishReason: "length" } }]);
  expect((await cut.run({ skill: "echo" })).result).toMatchObject({
    status: "limited",
    limit: "tokens",
    text: "Half",
  });
  const withheld = await openRuns(world, [{ answer: { finishReason: "content-filter" } }]);
  const { result } = await withheld.run({ skill: "echo" });
  expect(result).toMatchObject({ status: "failed", error: { code: "model.failed" } });
  expect(result.error?.message).toContain("content-filter");
});

test("a step that wants tools is not an answer, whatever the provider says", async () => {
  const { run } = await openRuns(createRunWorld({ echo: [] }), [step("Looking.", { finishReason: "stop" })], {
    tools: [look],
  });
  const { result } = await run({ skill: "echo", limits: { maxIterations: 1 } });
  expect(result).toMatchObject({ status: "limited", limit: "iterations", text: "Looking." });
});
