/** The third system's quick start: a reviewer skill, registered with an agent, invoked with a file, and run. */
import { join } from "node:path";
import { Agent, createScriptedModel, type RunEvent, SkillInvocationError } from "metier";
import { expect } from "vitest";
import { calls, eventsOf, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, type World } from "../support/world.ts";

const REVIEWER = `---
name: code-reviewer
description: Looks for faults in code.
allowed-tools:
  - read_file
  - grep_search
argument-hint: "<file-path>"
---

Review the file $ARGUMENTS. Look for faults, then say on which line each one is.
`;

const FOLDER = ".mamba/skills/code-reviewer";

function openProject(): World {
  const world = createWorld();
  world.write({
    [`project/${FOLDER}/SKILL.md`]: REVIEWER,
    [`project/${FOLDER}/references/style.md`]: "Names are whole words.",
    "project/src/auth.ts": "export const isAdmin = true;\n",
  });
  return world;
}

verifies([37, 80, 81, 127, 211], "a reviewer skill is invoked with a file path", async () => {
  const world = openProject();
  const places = { cwd: world.project, home: world.home };
  const text = "Review the file src/auth.ts. Look for faults, then say on which line each one is.";
  const registered = await Agent.create({ ...places, skills: [FOLDER] });
  expect(await registered.invokeSkill("code-reviewer", "src/auth.ts")).toBe(text);
  const discovering = await Agent.create({ ...places, skillDirs: [".mamba/skills"] });
  expect(await discovering.invokeSkill("code-reviewer", "src/auth.ts")).toBe(text);
  const later = await Agent.create(places);
  await later.registerSkill(join(world.project, FOLDER));
  expect(later.listSkills()).toMatchObject([
    { name: "code-reviewer", manifest: { argumentHint: "<file-path>" } },
  ]);
  expect((await later.getSkill("code-reviewer"))?.body).toContain("$ARGUMENTS");
  expect(later.skillManager?.getReferences("code-reviewer")).toEqual(["style.md"]);
  expect(later.skillManager?.loadReference("code-reviewer", "style.md")).toBe("Names are whole words.");
});

verifies(
  [33, 146, 153, 211],
  "the same skill, forking, reviews in a run of its own with its two tools alone",
  async () => {
    const world = openProject();
    const forking = REVIEWER.replace("description:", "context: fork\ndescription:");
    world.write({ [`project/${FOLDER}/SKILL.md`]: forking });
    const model = createScriptedModel([
      calls("read_file", { path: "src/auth.ts" }, { tools: ["read_file", "grep_search"] }),
      calls("grep_search", { pattern: "isAdmin" }, { toolResult: "isAdmin = true" }),
      says("Line 1: everyone is an administrator.", { toolResult: "src/auth.ts" }),
    ]);
    const agent = await Agent.create({
      model,
      skillDirs: [".mamba/skills"],
      cwd: world.project,
      home: world.home,
    });
    expect(await agent.invokeSkill("code-reviewer", "src/auth.ts")).toBe(
      "Line 1: everyone is an administrator.",
    );
    model.assertDone();
    world.write({ "elsewhere/wild/SKILL.md": forking.replace("name: code-reviewer", "name: wild") });
    const elsewhere = join(world.root, "elsewhere/wild");
    const untrusted = await Agent.create({ skills: [elsewhere], cwd: world.project, home: world.home });
    await expect(untrusted.invokeSkill("wild", "src/auth.ts")).rejects.toThrow(SkillInvocationError);
    await expect(untrusted.invokeSkill("wild", "src/auth.ts")).rejects.toThrow(/trust/);
  },
);

verifies([120, 205, 211], "an agent that is asked for a review uses the skill by itself", async () => {
  const world = openProject();
  const model = createScriptedModel([
    calls("use_skill", { skill: "code-reviewer", arguments: "src/auth.ts" }, { system: "Looks for faults" }),
    calls("read_file", { path: "src/auth.ts" }, { toolResult: "Review the file src/auth.ts." }),
    says("Line 1 makes everyone an administrator.", { toolResult: "isAdmin" }),
  ]);
  const events: RunEvent[] = [];
  const agent = await Agent.create({
    model,
    onEvent: (event) => void events.push(event),
    skillDirs: [".mamba/skills"],
    cwd: world.project,
    home: world.home,
  });
  const turn = await agent.run("Review src/auth.ts.");
  expect(turn).toMatchObject({ status: "completed", text: "Line 1 makes everyone an administrator." });
  expect(eventsOf(events, "tool-called").map(({ tool }) => tool)).toEqual(["use_skill", "read_file"]);
});
