/** What is refused before a model is asked: every gate, through a whole run whose script expects no question. */
import type { RunRequest, RunResult } from "@metier/run";
import { expect } from "vitest";
import { createRunWorld, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill, type World } from "../support/world.ts";

/** A run that must be refused: the script is empty. */
async function refusedRun(world: World, request: RunRequest): Promise<RunResult> {
  const { run } = await openRuns(world, []);
  const { result } = await run(request);
  expect(result).toMatchObject({ status: "refused", text: "", iterations: 0 });
  return result;
}

verifies(
  ["case 69", 133],
  "a call without a skill, and a model's call without a task, are refused",
  async () => {
    const world = createRunWorld({ echo: ["max-iterations: 3"] });
    const unnamed = await refusedRun(world, { skill: "" });
    expect(unnamed.refusal).toMatchObject({ reason: "not-found", data: { available: ["echo"] } });
    expect(unnamed.refusal?.message).toContain("No skill was named");
    const silent = await refusedRun(world, { skill: "echo", source: "model" });
    expect(silent.refusal).toMatchObject({ reason: "input", data: { missing: ["message"] } });
  },
);

verifies("case 70", "an unknown name reloads once, then the refusal lists the names there are", async () => {
  const world = createRunWorld({ echo: [] });
  const { metier, run } = await openRuns(world, [says("Late but there.")]);
  const { result } = await run({ skill: "ecko" });
  expect(result.refusal).toMatchObject({
    reason: "not-found",
    data: { near: ["echo"], available: ["echo"] },
  });
  expect(result.refusal?.hint).toContain("`echo`");
  world.write({ "home/.metier/skills/late/SKILL.md": skill("late") });
  expect(metier.has("late")).toBe(false);
  expect((await run({ skill: "late" })).result).toMatchObject({
    status: "completed",
    text: "Late but there.",
  });
});

verifies("case 71", "a disabled skill is refused, with the way to enable it", async () => {
  const world = createRunWorld({ echo: [] });
  world.write({ "home/.metier/config.toml": '[skills]\ndisabled = ["echo"]\n' });
  const { refusal } = await refusedRun(world, { skill: "echo" });
  expect(refusal).toMatchObject({ reason: "disabled" });
  expect(refusal?.hint).toContain("enabled: true");
});

verifies(
  ["case 72", 164],
  "missing variables are all named, with the lines to add to the config",
  async () => {
    const world = createRunWorld({ echo: ["env: [FIRST_KEY, SECOND_KEY, THIRD_KEY]"] });
    world.write({ "home/.metier/config.toml": '[skills.echo]\nSECOND_KEY = "configured"\n' });
    const { refusal } = await refusedRun(world, { skill: "echo" });
    expect(refusal).toMatchObject({ reason: "environment", data: { missing: ["FIRST_KEY", "THIRD_KEY"] } });
    expect(refusal?.hint).toContain("[skills.echo]");
    expect(refusal?.hint).toMatch(/FIRST_KEY = .*\nTHIRD_KEY = /);
  },
);

verifies("case 73", "names that look like secrets are refused where the config blocks them", async () => {
  const world = createRunWorld({ echo: ["env: [API_KEY, REGION]"] });
  world.write({
    "home/.metier/config.toml":
      '[skills]\nsecret-env = "block"\n[skills.echo]\nAPI_KEY = "long-enough-value"\nREGION = "north"\n',
  });
  const { refusal } = await refusedRun(world, { skill: "echo" });
  expect(refusal).toMatchObject({ reason: "environment", data: { blocked: ["API_KEY"] } });
});

verifies(["case 76", 169, 170, 171], "a sensitive skill runs only in a chat that may use it", async () => {
  const world = createRunWorld({
    diary: ["sensitive: true"],
    board: ["access:\n  chat-types: [group]"],
    team: [],
    open: [],
  });
  world.write({
    "home/.metier/config.toml": [
      '[skills.defaults]\nallow-chat-ids = ["1", "2"]',
      '[skills.open]\nallow-chat-ids = ["9"]\n',
    ].join("\n"),
  });
  const here = { chatId: "1" };
  const allowed: readonly RunRequest[] = [
    { skill: "diary", caller: { ...here, chatType: "Private" } },
    { skill: "board", caller: { ...here, chatType: "group" } },
    { skill: "team", caller: { chatId: "2" } },
    { skill: "open", caller: { chatId: "9" } },
  ];
  const denied: readonly RunRequest[] = [
    { skill: "diary", caller: { ...here, chatType: "group" } },
    { skill: "diary", caller: here },
    { skill: "board", caller: { ...here, chatType: "private" } },
    { skill: "board", caller: { ...here, chatType: "carrier-pigeon" } },
    { skill: "team", caller: { chatId: "9" } },
    { skill: "team" },
    { skill: "open", caller: here },
  ];
  const { run } = await openRuns(
    world,
    allowed.map(() => says("Done.")),
  );
  for (const request of allowed) {
    expect((await run(request)).result, JSON.stringify(request)).toMatchObject({ status: "completed" });
  }
  for (const request of denied) {
    const { result } = await run(request);
    expect(result.refusal, JSON.stringify(request)).toMatchObject({ reason: "access" });
  }
});

verifies(["case 77", 174], "a skill with capabilities is refused where nobody provides them", async () => {
  const world = createRunWorld({ mail: ["capabilities: [gog.email]"] });
  const { refusal } = await refusedRun(world, { skill: "mail", caller: { userId: "u1" } });
  expect(refusal).toMatchObject({ reason: "capabilities", data: { capabilities: ["gog.email"] } });
  expect(refusal?.message).toContain("`gog.email`");
});

verifies(["case 80", 101], "a missing tool is found before any model is asked", async () => {
  const world = createRunWorld({ deploy: ["required-tools: [Bash, launch_rocket]"] });
  const { refusal } = await refusedRun(world, { skill: "deploy" });
  expect(refusal).toMatchObject({ reason: "tools", data: { missing: ["launch_rocket"] } });
  expect(refusal?.message).toMatch(/'launch_rocket' which is not available\. Available: .*`bash`/);
});

verifies("case 80", "a tool is missing when the run itself would not have it", async () => {
  const world = createRunWorld({ mine: ["required-tools: [web_fetch, run_script]"] });
  world.write({
    "home/.metier/config.toml": '[sandbox]\nnetwork = ["example.com"]\n',
    "other/theirs/SKILL.md": skill("theirs", "required-tools: [web_fetch]"),
  });
  const script = [says("Fetched.", { tools: ["web_fetch", "run_script"] })];
  const { run } = await openRuns(world, script, { paths: [`${world.root}/other`] });
  expect((await run({ skill: "mine" })).result.status).toBe("completed");
  const { result } = await run({ skill: "theirs" });
  expect(result.refusal).toMatchObject({ reason: "tools", data: { missing: ["web_fetch"] } });
});

const SCHEMA = [
  "input-schema:",
  "  type: object",
  "  required: [url]",
  "  properties:",
  "    url: { type: string }",
  "    depth: { type: integer, minimum: 1, default: 2 }",
].join("\n");

verifies(
  ["case 81", 124],
  "input that does not fit the schema is refused by field; what fits gets its defaults",
  async () => {
    const world = createRunWorld({ fetch: [SCHEMA] });
    const missing = await refusedRun(world, { skill: "fetch", input: { depth: 1 } });
    expect(missing.refusal).toMatchObject({ reason: "input" });
    expect(missing.refusal?.message).toMatch(/^Invalid input: .*url/);
    const wrong = await refusedRun(world, { skill: "fetch", input: { url: "x", depth: 0 } });
    expect(wrong.refusal?.message).toMatch(/^Invalid input: .*depth/);
    const { run } = await openRuns(world, [
      says("Fetched.", { lastUserText: { contains: ['"url": "x"', '"depth": 2'] } }),
    ]);
    expect((await run({ skill: "fetch", input: { url: "x" } })).result.status).toBe("completed");
  },
);

verifies("case 66", "a refusal names every check that failed, the first one first", async () => {
  const world = createRunWorld({
    diary: ["sensitive: true\nenv: [DIARY_KEY]\nrequired-tools: [launch_rocket]"],
  });
  const { refusal } = await refusedRun(world, { skill: "diary" });
  expect(refusal).toMatchObject({ reason: "access", skill: "diary" });
  expect(refusal?.also.map(({ reason }) => reason)).toEqual(["tools", "environment"]);
});

verifies("case 65", "each source is held to its own flag", async () => {
  const world = createRunWorld({
    quiet: ["disable-model-invocation: true"],
    inner: ["user-invocable: false"],
  });
  const { run } = await openRuns(
    world,
    Array.from({ length: 4 }, () => says("Done.")),
  );
  const answers = await Promise.all(
    (["quiet", "inner"] as const).flatMap((name) =>
      (["model", "user", "code"] as const).map(async (source) => {
        const { result } = await run({ skill: name, message: "Do it.", source });
        return [name, source, result.refusal?.reason ?? result.status];
      }),
    ),
  );
  expect(answers).toEqual([
    ["quiet", "model", "not-invocable"],
    ["quiet", "user", "completed"],
    ["quiet", "code", "completed"],
    ["inner", "model", "completed"],
    ["inner", "user", "not-invocable"],
    ["inner", "code", "completed"],
  ]);
});
