/** What runs cost, wherever tokens are told; limits on it for a run, a conversation and a day; keys that a provider refuses. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { createRunId, openRunLog, type RunEventBody } from "@metier/run/events";
import type { Script, ScriptedTurn } from "@metier/run/model";
import { describe, expect, onTestFinished, test } from "vitest";
import { startProvider } from "../support/aimock.ts";
import { FINISHED, STARTED, stamped } from "../support/sample-run.ts";
import { createRunWorld, programTool, says, useSkill } from "../support/scripted-runs.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const MILLION = { inputTokens: 1_000_000, outputTokens: 0 };

/** A dollar a turn. */
function dear(text: string, more: ScriptedTurn["answer"] = {}): ScriptedTurn {
  return { answer: { text, usage: MILLION, ...more } };
}

/** The skill `echo`, and a script whose input costs one dollar per million tokens. */
function pricedWorld(script: Script, more = "", prices = "input-price = 1\n"): World {
  const world = createRunWorld({ echo: [], other: ["max-iterations: 5"] });
  writeConfig(world, script, more, prices);
  return world;
}

function writeConfig(world: World, script: Script, more: string, prices = "input-price = 1\n"): void {
  world.write({
    "script.json": JSON.stringify(script),
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = ${JSON.stringify(`${world.root}/script.json`)}\n${prices}\n${more}`,
  });
}

function keepRun(world: World, bodies: readonly RunEventBody[], at = Date.now()): string {
  const runId = createRunId(at);
  const log = openRunLog(metierPlaces(world.home), runId);
  for (const event of stamped(bodies, runId)) log.write(event);
  log.close?.();
  return runId;
}

describe("[U6] cost is told wherever tokens are", () => {
  test("in the result, its events, the last line of progress, and `runs`", async () => {
    const world = pricedWorld([dear("Done.", { usage: { inputTokens: 12_300, outputTokens: 0 } })]);
    const { stderr } = await world.cli("run", "echo");
    expect(stderr).toContain("step 1: stop, 12300 tokens, $0.0123 so far");
    expect((await world.cli("runs")).stdout).toMatch(/12300 tokens {2}\$0\.0123/);
    expect((await world.cli("runs", "stats")).stdout).toMatch(/12300 tokens {2}\$0\.0123/);
    const { json } = await world.cli("runs", "--json");
    expect(json.runs[0].cost).toBeCloseTo(0.0123);
    const shown = (await world.cli("runs", "show", json.runs[0].runId)).stdout;
    expect(shown).toMatch(/cost +\$0\.0123/);
    expect(shown).toMatch(/Step 1 {2}12300 tokens, \$0\.0123/);
  });

  test("after each turn of a chat in a terminal, and in the turn's JSON", async () => {
    const world = pricedWorld([dear("Hi.", { usage: { inputTokens: 500, outputTokens: 0 } })]);
    const { stderr } = await world.cliAnswering([], "chat", "Hello.");
    expect(stderr).toContain("500 tokens, $0.0005");
    const { json } = await world.cli("chat", "Hello.", "--json");
    expect(json.cost).toBeCloseTo(0.0005);
  });

  test("in evals: progress, summary, `benchmark.json` and the report", async () => {
    const world = pricedWorld([]);
    world.write({
      "home/.metier/skills/echo/evals/evals.json": JSON.stringify({
        skill_name: "echo",
        evals: [{ id: 1, prompt: "Go.", assertions: [{ contains: "Done" }] }],
      }),
    });
    writeConfig(world, [dear("Done."), dear("Done.")], "");
    const { stderr, stdout } = await world.cli("eval", "echo", "--max-cost", "10", "--concurrency", "1");
    expect(stderr).toContain("1000000 tokens, $1.0000");
    expect(stdout).toMatch(/with_skill .*1000000 tokens, \$1\.0000/);
    const report = /\S+report\.html/.exec(stdout)?.[0] ?? "";
    expect(readFileSync(report, "utf8")).toMatch(/"tokens":1000000,"cost":1\b/);
    const benchmark = JSON.parse(readFileSync(join(dirname(report), "benchmark.json"), "utf8"));
    expect(benchmark.runs[0].result.cost).toBe(1);
  });

  test("nested runs count for the run that started them", async () => {
    const world = pricedWorld([
      { answer: { ...useSkill("other", "Go.").answer, usage: MILLION } },
      dear("Inner."),
      dear("Outer."),
    ]);
    const result = await (await world.metier()).run({ skill: "echo" });
    expect(result).toMatchObject({ status: "completed", text: "Outer.", cost: 3 });
  });

  test("where no price is known nothing is said of it", async () => {
    const world = pricedWorld([says("Done.")], "", "");
    const outcome = await world.cli("run", "echo", "--json");
    expect(outcome.json).not.toHaveProperty("cost");
    const runs = await world.cli("runs");
    expect(`${runs.stdout}${(await world.cli("runs", "stats")).stdout}`).not.toMatch(/cost|\$/);
  });

  test("a known model has the list's price without any configuration", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Hello." } }]);
    const world = createRunWorld({ echo: [] });
    world.write({ "home/.metier/config.toml": provider.toml("anthropic") });
    const { usage, cost } = await (await world.metier()).run({ skill: "echo" });
    expect(cost).toBeCloseTo((usage.inputTokens * 2 + usage.outputTokens * 10) / 1e6);
  });
});

describe("[U6] --max-cost", () => {
  test("stops a run that has cost as much", async () => {
    const look = programTool("look", "Nothing.");
    const step = (text: string) => dear(text, { toolCalls: [{ tool: "look", input: {} }] });
    const world = pricedWorld([step("First."), step("Second.")]);
    const metier = await world.metier({ tools: [look] });
    const result = await metier.run({ skill: "echo", limits: { maxCost: 1.5 } });
    expect(result).toMatchObject({ status: "limited", limit: "cost", text: "Second.", cost: 2 });
  });

  test("is read by run, chat and eval, and nonsense is refused", async () => {
    const world = pricedWorld([dear("Done.")]);
    for (const amount of ["0", "-1", "free", "1,5", ""]) {
      const outcomes = await Promise.all([
        world.cli("run", "echo", "--max-cost", amount),
        world.cli("chat", "Hi.", "--max-cost", amount),
        world.cli("eval", "echo", "--max-cost", amount),
      ]);
      expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2]);
      if (amount !== "") expect(outcomes[0]?.stderr).toContain(`\`${amount}\`; it must be an amount above 0`);
    }
    expect((await world.cli("run", "echo", "--max-cost", "$5.00")).code).toBe(0);
  });

  test("is refused where no price is known, before anything is sent", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Hello." } }]);
    const world = createRunWorld({ echo: [] });
    world.write({
      "home/.metier/config.toml": provider.toml("openai-chat"),
      "home/.metier/skills/echo/evals/evals.json": JSON.stringify({
        skill_name: "echo",
        evals: [{ id: 1, prompt: "Go.", expectations: ["It goes."] }],
      }),
    });
    const outcomes = [
      await world.cli("run", "echo", "--max-cost", "1"),
      await world.cli("chat", "Hi.", "--max-cost", "1"),
      await world.cli("eval", "echo", "--max-cost", "1"),
    ];
    for (const { code, stderr } of outcomes) {
      expect(stderr).toContain("no price is known for `openai-compatible/gpt-4.1`");
      expect(code).toBe(2);
    }
    expect(provider.requests()).toHaveLength(0);
    const { json } = await world.cli("run", "echo", "--max-cost", "1", "--json");
    expect(json).toMatchObject({ status: "failed", error: { code: "model.no-price" } });
    expect(json.error.message).toContain("Set `input-price` and `output-price` under `[models.default]`");
  });

  test("a price of zero is a price", async () => {
    const world = pricedWorld([dear("Done.")], "", "input-price = 0\noutput-price = 0\n");
    expect((await world.cli("run", "echo", "--max-cost", "1", "--json")).json).toMatchObject({
      status: "completed",
      cost: 0,
    });
  });
});

describe("[U6] [runs] max-cost-per-day", () => {
  const DAY = "[runs]\nmax-cost-per-day = 2\n";

  test("is counted from the day's logs, and refuses the next run with the key's name", async () => {
    const world = pricedWorld([dear("One.")], DAY);
    expect((await world.cli("run", "echo")).stdout).toBe("One.\n");
    expect((await world.cli("run", "echo")).stdout).toBe("One.\n");
    const { code, stderr, stdout } = await world.cli("run", "echo");
    expect([code, stdout]).toEqual([4, ""]);
    expect(stderr).toContain("today's runs cost $2.0000 of $2 (`runs.max-cost-per-day`)");
    expect(stderr).toContain("raise `max-cost-per-day` under `[runs]`");
    expect((await world.cli("chat", "Hi.")).stderr).toContain("`runs.max-cost-per-day`");
    expect((await world.cli("runs", "--json")).json.runs).toHaveLength(2);
  });

  test("stops a run that reaches it", async () => {
    const step = (text: string) => dear(text, { toolCalls: [{ tool: "look", input: {} }] });
    const world = pricedWorld([step("First."), step("Second."), step("Third.")], DAY);
    const metier = await world.metier({ tools: [programTool("look", "Nothing.")] });
    expect(await metier.run({ skill: "echo" })).toMatchObject({ limit: "cost", text: "Second.", cost: 2 });
  });

  test("counts runs that were killed and nested ones once, and not those of other days", async () => {
    const world = pricedWorld([dear("One.")], "[runs]\nmax-cost-per-day = 5.5\n");
    const answered = (cost: number): RunEventBody => ({
      type: "model-answered",
      step: 1,
      parts: [],
      finishReason: "stop",
      usage: { ...MILLION, totalTokens: 1_000_000 },
      cost,
      durationMs: 1,
    });
    keepRun(world, [STARTED, { ...FINISHED, cost: 100 }], Date.now() - 48 * 3_600_000);
    const parent = keepRun(world, [STARTED, answered(1), { ...FINISHED, cost: 2 }]);
    keepRun(world, [{ ...STARTED, parentRunId: parent }, answered(1), { ...FINISHED, cost: 1 }]);
    keepRun(world, [STARTED, answered(1), answered(1.5)]);
    const run = (): Promise<{ readonly code: number }> => world.cli("run", "echo");
    expect((await run()).code).toBe(0); // 4.5 before it, 5.5 after it.
    const { stderr } = await world.cli("run", "echo");
    expect(stderr).toContain("$5.5000 of $5.5");
  });

  test("a conversation that reaches it says so and sends nothing more", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Expensive." } }]);
    const world = createWorld();
    const prices = "input-price = 1000000\noutput-price = 1000000\n";
    world.write({ "home/.metier/config.toml": `${provider.toml("openai-chat")}${prices}\n${DAY}` });
    const chat = await (await world.metier()).chat();
    expect((await chat.send("Hello.")).text).toBe("Expensive.");
    const turn = await chat.send("Hello again.");
    expect(turn).toMatchObject({ status: "failed", error: { code: "runs.day-budget" } });
    expect(turn.notice).toContain("`runs.max-cost-per-day`");
    expect(provider.requests()).toHaveLength(1);
  });

  test("holds for nested runs of another model, and asks for a price of each", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Hello." } }]);
    const world = createRunWorld({ echo: [], inner: ["model: local\nmax-iterations: 5"] });
    const script = [useSkill("inner", "Go."), says("Told.")];
    writeConfig(world, script, `${provider.toml("openai-chat", "local")}\n${DAY}`);
    const answers: string[] = [];
    const result = await (await world.metier()).run({
      skill: "echo",
      onEvent: (event) => void (event.type === "tool-finished" && answers.push(event.text)),
    });
    expect(result).toMatchObject({ status: "completed", text: "Told." });
    expect(answers.join()).toContain("no price is known for `openai-compatible/gpt-4.1`");
    expect(provider.requests()).toHaveLength(0);
  });

  test.each([
    ["a text", '[runs]\nmax-cost-per-day = "2"\n', '`runs.max-cost-per-day` is "2"'],
    ["less than nothing", "[runs]\nmax-cost = -1\n", "`runs.max-cost` is -1"],
    [
      "a key that is not known",
      "[runs]\nmax-cost-per-dya = 2\n",
      "`runs.max-cost-per-dya` is not a config key",
    ],
    ["a tool's answer", '[tools]\nbash = "dney"\n', '`tools.bash` is "dney"'],
    ["a file that cannot be parsed", "[runs\n", "config.toml"],
  ])("a wrong limit starts no run and no chat, and is named: %s", async (_, config, named) => {
    const world = pricedWorld([dear("One.")], config);
    for (const command of [
      ["run", "echo"],
      ["chat", "Hi."],
    ]) {
      const { code, stderr, stdout } = await world.cli(...command);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("Not started: ");
      expect(stderr).toContain(named);
    }
    expect((await world.cli("list")).code).toBe(0);
  });

  test("a wrong limit of the environment and a price below zero stop it, too", async () => {
    const world = pricedWorld([dear("One.")], "");
    const wrong = { environment: { METIER_RUNS__MAX_COST_PER_DAY: "two" } };
    const result = await (await world.metier(wrong)).run({ skill: "echo" });
    expect(result).toMatchObject({ status: "failed", error: { code: "config.invalid" } });
    expect(result.error?.message).toContain('`METIER_RUNS__MAX_COST_PER_DAY` is "two"');
    const cheap = await (await pricedWorld([dear("One.")], "", "input-price = -3\n").metier()).run({
      skill: "echo",
    });
    expect(cheap.error?.message).toContain("`models.default.input-price` is -3");
  });

  test("a script or a replay costs nothing and is not refused", async () => {
    const world = pricedWorld([says("Free.")], "[runs]\nmax-cost-per-day = 0\n", "");
    expect((await world.cli("run", "echo", "--max-cost", "1")).stdout).toBe("Free.\n");
  });

  test("a project that is not granted may only make it smaller", async () => {
    const world = pricedWorld([dear("One.")], DAY);
    world.write({ "project/.metier/config.toml": "[runs]\nmax-cost-per-day = 100\n" });
    const loose = await world.metier();
    expect(loose.config.config.runs.maxCostPerDay).toBe(2);
    expect(loose.config.diagnostics).toContainEqual(expect.objectContaining({ code: "config.not-granted" }));
    world.write({ "project/.metier/config.toml": "[runs]\nmax-cost-per-day = 0.5\n" });
    expect((await world.metier()).config.config.runs.maxCostPerDay).toBe(0.5);
  });
});

describe("[U5] an unknown model", () => {
  test("is an error of run and chat before anything is sent, and exits with 2", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Hello." } }]);
    const world = createWorld();
    world.write({
      "home/.metier/skills/echo/SKILL.md": skill("echo"),
      "home/.metier/config.toml": provider.toml("anthropic"),
    });
    for (const command of [
      ["run", "echo"],
      ["chat", "Hi."],
    ]) {
      const { code, stderr } = await world.cli(...command, "--model", "sonet");
      expect(code).toBe(2);
      expect(stderr).toContain("Unknown model `sonet`.");
      expect(stderr).toContain("Did you mean `sonnet`?");
    }
    const { json } = await world.cli("run", "echo", "--model", "foo", "--json");
    expect(json).toMatchObject({ status: "failed", error: { code: "model.unknown" } });
    world.write({
      "home/.metier/config.toml": `${provider.toml("anthropic")}\n[skills.echo]\nmodel = "foo"\n`,
    });
    expect((await world.cli("run", "echo")).stderr).toContain("`[skills.echo]` in your config names");
    expect(provider.requests()).toHaveLength(0);
  });
});

describe("[U19] a key that the provider refuses", () => {
  const KEY = "loopback-key-9876543210";

  async function refusing(status: number): Promise<string> {
    const server = createServer((_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "x", message: "invalid x-api-key" } }));
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function errorOf(world: World, ...args: readonly string[]): Promise<string> {
    world.write({ "home/.metier/skills/echo/SKILL.md": skill("echo") });
    const { stderr } = await world.cli("run", "echo", ...args);
    expect(stderr).not.toContain(KEY);
    return stderr;
  }

  test("is told by the variable it came from", async () => {
    const environment = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: await refusing(401) };
    const said = await errorOf(createWorld({ environment }));
    expect(said).toContain("The provider answered 401 (127.0.0.1:");
    expect(said).toContain("The key came from the environment variable `ANTHROPIC_API_KEY`.");
    expect(said).toContain("Check that it is a valid key for `anthropic`");
  });

  test("is told by the config key it came from, or that none was sent", async () => {
    const world = createWorld();
    const url = await refusing(403);
    const table = (alias: string, more: string): string =>
      `[models.${alias}]\nprovider = "openai-compatible"\nmodel = "m"\nbase-url = "${url}"\n${more}\n`;
    world.write({
      "home/.metier/config.toml": `${table("fast", `api-key = "${KEY}"`)}${table("open", "")}`,
    });
    expect(await errorOf(world, "--model", "fast")).toContain(
      "The key came from `models.fast.api-key` of your config. Check that it may use this model",
    );
    expect(await errorOf(world, "--model", "open")).toContain("No key was sent.");
  });
});
