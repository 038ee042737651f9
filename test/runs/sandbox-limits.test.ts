/** What `[sandbox]` allows holds for everything that a run, a chat and a skill's text start. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { openChat } from "../support/chat.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import type { World } from "../support/world.ts";

const CONFIG = "[skills]\ndynamic-context = true\n[sandbox]\nprocesses = 20\nmemory-mb = 512\nwork-mb = 1\n";
/** What `prlimit` set, in kilobytes: a file may be as large as the work folder. */
const SHOW = "ulimit -f; ulimit -d";
const SHOWN = "1024\n1572864";

function createLimitedWorld(body = "Do the thing."): World {
  const world = createRunWorld({ eager: ["", body] });
  world.write({
    "home/.metier/config.toml": CONFIG,
    "home/.metier/skills/eager/scripts/show.sh": `#!/bin/bash\n${SHOW}\n`,
  });
  return world;
}

describeSandbox("the limits of the config", () => {
  verifies(182, "end a command that starts more processes than they allow", async () => {
    const { run } = await openRuns(createLimitedWorld(), [
      bash("for i in {1..60}; do sleep 60 & done; wait"),
      says("Done."),
    ]);
    const { events } = await run({ skill: "eager", approve: "all" });
    expect(eventsOf(events, "tool-finished")[0]?.text).toContain("the limit is 20");
  });

  verifies(182, "end a command that fills the work folder, and refuse the next one", async () => {
    const fill = "for i in {1..9}; do head -c 900000 /dev/zero > ~/$i; done; sleep 60";
    const { run } = await openRuns(createLimitedWorld(), [bash(fill), bash("echo again"), says("Done.")]);
    const { events } = await run({ skill: "eager", approve: "all" });
    const [filled, again] = eventsOf(events, "tool-finished").map(({ text }) => text);
    expect(filled).toContain("the limit is 1048576 bytes (`sandbox.work-mb`)");
    expect(again).toContain("the limit is 1048576 bytes (`sandbox.work-mb`)");
    expect(again).toContain("No command runs until it is smaller.");
  });

  const showTest = test.skipIf(!existsSync("/usr/bin/prlimit"));

  showTest("hold for commands and scripts of a run", async () => {
    const turns = [bash(SHOW), calls("run_script", { script: "scripts/show.sh" }), says("Done.")];
    const { run } = await openRuns(createLimitedWorld(), turns);
    const { events } = await run({ skill: "eager", approve: "all" });
    for (const { text } of eventsOf(events, "tool-finished")) expect(text).toContain(SHOWN);
    expect(eventsOf(events, "tool-finished")).toHaveLength(2);
  });

  showTest("hold for commands in the text of a skill", async () => {
    const turns = [says("Done.", { system: { contains: SHOWN } })];
    const { run } = await openRuns(createLimitedWorld(`It says: !\`${SHOW}\``), turns);
    const { result } = await run({ skill: "eager", approve: "all" });
    expect(result).toMatchObject({ text: "Done." });
  });

  showTest("hold for commands of a chat", async () => {
    const turns = [bash(SHOW), says("Done.")];
    const { chat, events } = await openChat(createLimitedWorld(), turns, { approve: "all" });
    await chat.send("Show it.");
    expect(eventsOf(events, "tool-finished")[0]?.text).toContain(SHOWN);
  });
});
