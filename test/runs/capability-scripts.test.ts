/** Everything else that a skill with capabilities runs: scripts, alone or for another skill, hooks, commands in its text. */
import { expect, test } from "vitest";
import { ALICE, openMemo, READ } from "../support/memo-runs.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { calls, eventsOf, readLog, says } from "../support/scripted-runs.ts";
import { skill } from "../support/world.ts";

const TOOLSET = `
import { execSync } from "node:child_process";
import { defineToolset } from "metier/toolset";
const read = () => execSync("${READ}", { encoding: "utf8" });
read();
export const Notes = defineToolset({
  tools: { notes: { description: "The notes.", input: { type: "object" }, run: read } },
});
`;
const SCRIPT = `#!/bin/sh\n${READ}\n`;

describeSandbox("programs of a skill with capabilities", () => {
  test("have them by `metier script`, and leave them in its log", async () => {
    const { metier, memo, world } = await openMemo([]);
    world.write({ "home/.metier/skills/memo/scripts/read.sh": SCRIPT });
    const result = await metier.script({ skill: "memo", script: "scripts/read.sh", caller: ALICE });
    expect(result).toMatchObject({ status: "completed", json: { output: { notes: ["buy milk"] } } });
    expect(result.capabilities).toMatchObject([{ capability: "memo.notes", calls: 1, failed: 0 }]);
    expect(eventsOf(readLog(world, result.runId), "capability-called")).toHaveLength(1);
    expect(memo.calls).toMatchObject([{ caller: { runId: result.runId, skill: "memo" } }]);
  });

  test("have their own when another skill runs them, whose log says so", async () => {
    const { run, memo, world } = await openMemo([
      calls("run_script", { skill: "memo", script: "scripts/read.sh" }),
      says("Done.", { toolResult: { contains: ["buy milk"] } }),
    ]);
    world.write({ "home/.metier/skills/memo/scripts/read.sh": SCRIPT });
    const { result, events } = await run({ skill: "plain", caller: ALICE, approve: "all" });
    expect(memo.calls).toMatchObject([{ caller: { runId: result.runId, skill: "memo" } }]);
    expect(eventsOf(events, "capability-called")).toHaveLength(1);
    expect(result.capabilities).toHaveLength(1);
  });

  test("have them as hooks too", async () => {
    const { run, memo } = await openMemo(
      [says("Done.")],
      {},
      `\nhooks: { stop: [{ command: '${READ} > /dev/null' }] }`,
    );
    await run({ skill: "memo", caller: ALICE, approve: "all" });
    expect(memo.calls).toHaveLength(1);
  });

  test("have them as toolsets too, also while those are loaded", async () => {
    const { run, memo, world, metier } = await openMemo(
      [calls("memo__notes", {}), says("Done.", { toolResult: { contains: ["buy milk"] } })],
      {},
      '\ntoolsets: ["toolsets/index:Notes"]',
    );
    world.write({ "home/.metier/skills/memo/toolsets/index.ts": TOOLSET });
    await metier.reload();
    const { result, events } = await run({ skill: "memo", caller: ALICE, approve: "all" });
    expect(result.capabilities).toMatchObject([{ operation: "read", calls: 2 }]);
    expect(events.map(({ type }) => type).indexOf("capability-called")).toBe(1); // After the run has begun.
    expect(memo.calls).toHaveLength(2);
  });

  test("have none as commands in the skill's text", async () => {
    const { run, memo, world, metier } = await openMemo([says("Done.")]);
    const body = "Notes: !`env | grep -c METIER_CONTEXT; metier-sb capability list 2>&1`";
    world.write({
      "home/.metier/config.toml": "[skills]\ndynamic-context = true\n",
      "home/.metier/skills/memo/SKILL.md": skill("memo", "capabilities: [memo.notes]", body),
    });
    await metier.reload();
    const { events } = await run({ skill: "memo", caller: ALICE });
    const system = eventsOf(events, "model-called")[0]?.system ?? "";
    expect(system).toContain("Notes: [command");
    expect(system).not.toContain("buy milk");
    expect(memo.calls).toEqual([]);
  });
});
