/** A skill declares a key, the config has it, the run's process sees it, and nothing else ever does. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createScriptedModel, type RunEvent } from "metier";
import { expect } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, readLog, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, type World } from "../support/world.ts";

const KEY = "key-of-no-worth-4711";
const PLACEHOLDER = "Key: [redacted:TEST_API_KEY]";
const DIGEST = createHash("sha256").update(KEY).digest("hex");

/** Says the key aloud, and proves without saying it that it is the right one. */
const COMMAND = 'echo "Key: $TEST_API_KEY"; printf %s "$TEST_API_KEY" | sha256sum';

const SKILL = `---
description: Checks that a key is delivered.
env:
  - TEST_API_KEY
allowed_tools: [bash]
---

Say the variable TEST_API_KEY aloud.
`;

function openWorkspace(): World {
  const world = createWorld();
  world.write({
    "project/workspace/skills/test-api/SKILL.md": SKILL,
    "home/.ash/config.toml": `[skills.test-api]\nTEST_API_KEY = "${KEY}"\n`,
  });
  return world;
}

/** What the command printed, as the model got it. */
const SEEN = { toolResult: { contains: [PLACEHOLDER, DIGEST] } };

/** Every file below a folder that has the key in it. */
function filesWithKey(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(KEY);
  });
}

describeSandbox("a key that a skill declares", () => {
  verifies(
    [30, 162, 163, 185, 207, "case 74"],
    "reaches its process, and is a placeholder in results, events, logs and recordings",
    async () => {
      const world = openWorkspace();
      await world.cli("trust");
      const model = createScriptedModel([bash(COMMAND), says(`I was told: ${KEY}`, SEEN)]);
      const metier = await world.metier({ preset: "ash", models: { default: model } });
      const record = join(world.root, "run.jsonl");
      const events: RunEvent[] = [];
      const result = await metier.run({
        skill: "test-api",
        record,
        onEvent: (event) => void events.push(event),
      });
      model.assertDone();
      expect(result).toMatchObject({ status: "completed", text: "I was told: [redacted:TEST_API_KEY]" });
      const log = readLog(world, result.runId);
      expect(log.find(({ type }) => type === "run-started")).toMatchObject({ env: ["TEST_API_KEY"] });
      expect(log.find(({ type }) => type === "tool-finished")).toMatchObject({
        isError: false,
        text: expect.stringContaining(PLACEHOLDER),
      });
      expect(JSON.stringify({ result, events })).not.toContain(KEY);
      expect(readFileSync(record, "utf8")).toContain(PLACEHOLDER);
      expect(filesWithKey(world.root)).toEqual(["home/.ash/config.toml"]);
    },
  );

  verifies(207, "is a placeholder in everything that the command line prints", async () => {
    const world = openWorkspace();
    world.write({ "script.json": JSON.stringify([bash(COMMAND), says(`It is ${KEY}.`, SEEN)]) });
    await world.cli("trust");
    const model = `scripted:${join(world.root, "script.json")}`;
    const record = join(world.root, "run.jsonl");
    const flags = ["--preset", "ash", "--model", model];
    const plain = await world.cli("run", "test-api", ...flags, "--record", record);
    expect(plain).toMatchObject({ code: 0, stdout: "It is [redacted:TEST_API_KEY].\n" });
    const json = await world.cli("run", "test-api", ...flags, "--json");
    expect(json.json).toMatchObject({ status: "completed", text: "It is [redacted:TEST_API_KEY]." });
    const events = await world.cli("run", "test-api", ...flags, "--events");
    expect(events.stdout).toContain(PLACEHOLDER);
    const replayed = await world.cli("run", "test-api", "--preset", "ash", "--replay", record);
    expect(replayed).toMatchObject({ code: 0, stdout: plain.stdout });
    const shown = await world.cli("runs", "show", json.json.runId);
    expect(shown.stdout).toContain("test-api");
    const dry = await world.cli("run", "test-api", ...flags, "--dry-run");
    expect(dry.stdout).toContain("TEST_API_KEY");
    for (const { stdout, stderr } of [plain, json, events, replayed, shown, dry]) {
      expect(stdout + stderr).not.toContain(KEY);
    }
    expect(filesWithKey(world.root)).toEqual(["home/.ash/config.toml", "script.json"]);
  });

  verifies([163, 185], "does not reach a skill that does not declare it", async () => {
    const world = openWorkspace();
    const other = SKILL.replace(/env:\n.*\n/, "");
    world.write({
      "project/workspace/skills/other/SKILL.md": other,
      "home/.ash/config.toml": [
        "[skills.test-api]",
        `TEST_API_KEY = "${KEY}"`,
        "[skills.other]",
        `TEST_API_KEY = "${KEY}"`,
      ].join("\n"),
    });
    await world.cli("trust");
    const model = createScriptedModel([bash(COMMAND), says("Nothing.", { toolResult: "Key: \n" })]);
    const metier = await world.metier({ preset: "ash", models: { default: model } });
    expect(await metier.run({ skill: "other" })).toMatchObject({ status: "completed", text: "Nothing." });
  });
});

verifies(
  [164, 207, "case 72"],
  "a key that is missing is asked for with the lines to add, before any model",
  async () => {
    const world = openWorkspace();
    world.write({ "home/.ash/config.toml": "" });
    await world.cli("trust");
    const metier = await world.metier({ preset: "ash", models: { default: createScriptedModel([]) } });
    const result = await metier.run({ skill: "test-api" });
    expect(result).toMatchObject({ status: "refused", refusal: { reason: "environment" } });
    expect(result.refusal?.hint).toMatch(/\[skills\.test-api\]\n?\s*TEST_API_KEY = /);
  },
);

verifies(
  [164, 207],
  "the user's key is withheld from a project's skill until the project is trusted",
  async () => {
    const world = openWorkspace();
    const metier = await world.metier({ preset: "ash", models: { default: createScriptedModel([]) } });
    const result = await metier.run({ skill: "test-api" });
    expect(result).toMatchObject({ status: "refused", refusal: { reason: "trust" } });
    expect(existsSync(join(world.home, ".metier/state/runs", result.runId))).toBe(false);
  },
);

verifies([120, 207], "a host's model can ask for it by `use_skill`, and learns no more", async () => {
  const world = openWorkspace();
  await world.cli("trust");
  const model = createScriptedModel([calls("list_files", {}), says(`Delivered: ${KEY}`)]);
  const metier = await world.metier({ preset: "ash", models: { default: model } });
  const output = await metier.useSkillTool()?.execute({ skill: "test-api", message: "Is the key there?" });
  expect(output?.text).toContain("Delivered: [redacted:TEST_API_KEY]");
});
