/** Capabilities are called by commands, so what holds commands decides whether a skill can have any. */
import { describe, expect, test } from "vitest";
import { ALICE, openMemo, READ } from "../support/memo-runs.ts";
import { bash, says } from "../support/scripted-runs.ts";

describe("a skill with capabilities, where no command reaches the host,", () => {
  for (const backend of ["just-bash", "sandbox-runtime"]) {
    test(`is not run in \`${backend}\`, nor are its scripts`, async () => {
      const { run, metier, world, memo } = await openMemo([]);
      world.write({
        "home/.metier/config.toml": `[sandbox]\nbackend = "${backend}"\n`,
        "home/.metier/skills/memo/scripts/read.sh": `#!/bin/sh\n${READ}\n`,
      });
      await metier.reload();
      const { result } = await run({ skill: "memo", caller: ALICE });
      expect(result.refusal).toMatchObject({
        reason: "capabilities",
        data: { capabilities: ["memo.notes"] },
      });
      expect(result.refusal?.hint).toContain("bubblewrap");
      const script = await metier.script({ skill: "memo", script: "scripts/read.sh", caller: ALICE });
      expect(script).toMatchObject({ status: "refused", refusal: { reason: "capabilities" } });
      expect(memo.calls).toEqual([]);
    });
  }
});

test("without a sandbox, by the user's setting, commands reach the host all the same", async () => {
  const { run, metier, world, memo } = await openMemo([
    bash(READ),
    says("Done.", { toolResult: { contains: ["buy milk"] } }),
  ]);
  world.write({ "home/.metier/config.toml": '[sandbox]\nbackend = "none"\n' });
  await metier.reload();
  const { result } = await run({ skill: "memo", caller: ALICE, approve: "all" });
  expect(result).toMatchObject({ status: "completed", sandbox: { backend: "none" } });
  expect(memo.calls).toHaveLength(1);
});
