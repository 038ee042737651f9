/** Who is asked before something happens, and what an untrusted skill cannot have by being confirmed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalQuestion } from "@metier/run";
import { expect } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

describeSandbox("sensitive operations", () => {
  verifies(184, "ask first: what executes, changes or reaches out. What only reads does not", async () => {
    const world = createRunWorld({ doer: [] });
    world.write({
      "home/.metier/config.toml": '[sandbox]\nnetwork = ["site.test"]\n',
      "home/.metier/skills/doer/scripts/run.sh": "echo ran",
      "project/notes.txt": "old",
    });
    const { run } = await openRuns(world, [
      calls("read_file", { path: "notes.txt" }),
      calls("list_files", {}),
      calls("read_skill_file", { skill: "doer", path: "SKILL.md" }),
      bash("echo x > notes.txt"),
      calls("write_file", { path: "notes.txt", content: "new" }),
      calls("edit_file", { path: "notes.txt", old_string: "old", new_string: "new" }),
      calls("web_fetch", { url: "https://site.test/" }),
      calls("run_script", { script: "scripts/run.sh" }),
      says("Done."),
    ]);
    const asked: string[] = [];
    const approve = ({ tool }: ApprovalQuestion) => {
      asked.push(tool);
      return "no" as const;
    };
    const { result } = await run({ skill: "doer", write: true, approve });
    expect(asked).toEqual(["bash", "write_file", "edit_file", "web_fetch", "run_script"]);
    expect(result.denied.map(({ tool, reason }) => `${tool}: ${reason}`)).toEqual(
      asked.map((tool) => `${tool}: the user declined`),
    );
    expect(readFileSync(join(world.project, "notes.txt"), "utf8")).toBe("old");
  });
});

describeSandbox("an untrusted skill, whatever is confirmed", () => {
  verifies(183, "has its folder read-only, no network and nothing of the project", async () => {
    const world = createRunWorld({});
    world.write({
      "home/.metier/config.toml": '[sandbox]\nnetwork = ["site.test"]\n',
      "foreign/theirs/SKILL.md": skill("theirs", "allowed-tools: [Bash, web_fetch]"),
      "project/plan.txt": "the plan",
    });
    const text = readFileSync(join(world.root, "foreign/theirs/SKILL.md"), "utf8");
    const { run } = await openRuns(
      world,
      [
        bash('test -r "$METIER_SKILL_DIR/SKILL.md" && echo x > "$METIER_SKILL_DIR/SKILL.md"'),
        bash("env | grep -i proxy || grep -c : /proc/net/dev", { toolResult: "Read-only file system" }),
        bash(`cat ${world.project}/plan.txt`, { toolResult: { matches: "stdout:\\n1$" } }),
        calls("web_fetch", { url: "http://site.test/" }, { toolResult: "No such file" }),
        says("Done.", { toolResult: "web_fetch" }),
      ],
      { paths: [`${world.root}/foreign`] },
    );
    const { result } = await run({ skill: "theirs", approve: "all", write: true });
    expect(result).toMatchObject({ status: "completed", trust: "untrusted" });
    expect(result.sandbox.used.network).toEqual([]);
    expect(readFileSync(join(world.root, "foreign/theirs/SKILL.md"), "utf8")).toBe(text);
  });

  verifies(183, "is not pre-approved by the tools that it lists", async () => {
    const world = createRunWorld({});
    world.write({ "foreign/theirs/SKILL.md": skill("theirs", "allowed-tools: [Bash]") });
    const { run } = await openRuns(world, [bash("echo ran"), says("Denied.")], {
      paths: [`${world.root}/foreign`],
    });
    const { result } = await run({ skill: "theirs" });
    expect(result.denied).toMatchObject([{ tool: "bash" }]);
  });
});
