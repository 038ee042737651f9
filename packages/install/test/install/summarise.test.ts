import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { findSourceSkills } from "../../src/install/find-source-skills.ts";
import { isValid } from "../../src/install/plan-skill.ts";
import { type SkillSummary, summariseSkill } from "../../src/install/review-skills.ts";

async function summaryOf(files: Readonly<Record<string, string | Buffer>>): Promise<SkillSummary> {
  const folder = join(temporaryFolder(), "demo");
  writeTree(folder, files);
  for (const path of Object.keys(files)) if (path.endsWith("-x")) chmodSync(join(folder, path), 0o755);
  const { skills } = await findSourceSkills({ folder }, "standard");
  const [skill] = skills.filter(isValid);
  if (skill === undefined) throw new Error("The skill is not valid.");
  return summariseSkill(skill, { findings: [], unscanned: [] });
}

test("a summary says what can run in a skill, by what runs it", async () => {
  const { scripts, files, mcp, dependencies } = await summaryOf({
    "SKILL.md": skillText("name: demo\ndescription: Demo."),
    "scripts/a.py": "print(1)\n",
    "scripts/b.ts": "export {};\n",
    "scripts/c": "#!/usr/bin/env -S bash -e\ntrue\n",
    "scripts/d.rb": "#!/usr/bin/ruby\nputs 1\n",
    "scripts/tool-x": "text that may be executed\n",
    "bin/program": Buffer.concat([Buffer.from("7f454c46", "hex"), Buffer.alloc(64)]),
    "notes.txt": "nothing runs this\n",
    "requirements.txt": "x==1\n",
    ".mcp.json": "{}\n",
  });
  expect(scripts.map(({ language, paths }) => [language, paths])).toEqual([
    ["binary", ["bin/program"]],
    ["python", ["scripts/a.py"]],
    ["javascript", ["scripts/b.ts"]],
    ["shell", ["scripts/c"]],
    ["ruby", ["scripts/d.rb"]],
    ["executable", ["scripts/tool-x"]],
  ]);
  expect([files, mcp, dependencies]).toEqual([10, [".mcp.json"], ["requirements.txt"]]);
});

test("a summary says what a skill asks for", async () => {
  const summary = await summaryOf({
    "SKILL.md": skillText(
      `name: demo
description: Demo.
license: MIT
version: 1.2.0
allowed-tools: Read Bash(git:*)
required-tools: [bash]
env: [API_KEY]
requires:
  env: [OTHER]
packages: [jq]
sandbox:
  network: [example.com]
  read: [~/notes]
  write: [./out]
hooks:
  pre-tool:
    - command: [echo, hi]`,
      "See !`git status` first.\n\n```!\ndate\n```",
    ),
  });
  expect(summary).toMatchObject({
    name: "demo",
    version: "1.2.0",
    license: "MIT",
    allowedTools: ["Read", "Bash(git:*)"],
    requiredTools: ["bash"],
    env: ["API_KEY", "OTHER"],
    packages: ["jq"],
    network: ["example.com"],
    hooks: ["pre-tool"],
    commands: ["git status", "date"],
  });
  expect([summary.reads.length, summary.writes.length]).toEqual([1, 1]);
});
