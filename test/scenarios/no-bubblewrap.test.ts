/** A Linux machine without bubblewrap: what `doctor` says, what still works, and that nothing runs unsandboxed. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bash, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const INSTALL = /(sudo )?apt-get install -y bubblewrap/;
/** What a command might start by mistake. Each leaves a mark when it runs. */
const CANARIES = ["apt-get", "bash", "sh", "env", "node", "python3", "git", "cat", "wc", "canary"];

interface BareMachine extends World {
  /** The canaries that were started. */
  started(): readonly string[];
}

function bareMachine(): BareMachine {
  const folder = createWorld().root;
  const PATH = join(folder, "bin");
  const marks = join(folder, "marks");
  for (const path of [PATH, marks]) mkdirSync(path);
  for (const name of CANARIES) {
    writeFileSync(join(PATH, name), `#!/bin/sh\n: > '${marks}/${name}'\n`, { mode: 0o755 });
  }
  const world = createWorld({ environment: { PATH } });
  world.write({
    "home/.metier/skills/own/SKILL.md": skill("own"),
    "other/theirs/SKILL.md": skill("theirs"),
    "project/notes.txt": "one two three\n",
  });
  return { ...world, started: () => readdirSync(marks) };
}

describe.skipIf(process.platform !== "linux")("a machine without bubblewrap", () => {
  test("`doctor` names what is missing, the one command that fixes it, and what is used meanwhile", async () => {
    const machine = bareMachine();
    const { stdout } = await machine.cli("doctor");
    expect(stdout).toMatch(/bubblewrap: does not work; bubblewrap is not installed\. Run `[^`]+`\./);
    expect(stdout).toMatch(INSTALL);
    expect(stdout).toMatch(/just-bash: works; .*cannot start programs/);
    const { json } = await machine.cli("doctor", "--json");
    expect(json.machine.sandbox).toMatchObject([
      { backend: "bubblewrap", available: false, remedy: expect.stringMatching(INSTALL) },
      { backend: "just-bash", available: true },
    ]);
    expect(machine.started()).toEqual([]);
  });

  test("a trusted skill has an interpreted shell, and that is said loudly", async () => {
    const machine = bareMachine();
    const runs = await openRuns(machine, [
      bash("wc -w < notes.txt > $METIER_WORK_DIR/count; cat $METIER_WORK_DIR/count; canary"),
      bash("python3 -c 'print(1)'"),
      says("Three words."),
    ]);
    const { result, events } = await runs.run({ skill: "own", approve: "all" });
    expect(result).toMatchObject({ status: "completed", sandbox: { backend: "just-bash" } });
    const [glue, program] = eventsOf(events, "tool-finished").map(({ text }) => text);
    expect(glue).toMatch(/stdout:\n\s*3\n/);
    expect(program).toContain("Exit code 127");
    expect(program).toMatch(INSTALL);
    const loud = result.diagnostics.find(({ code }) => code === "sandbox.interpreted");
    expect(loud).toMatchObject({ severity: "warning", hint: expect.stringMatching(INSTALL) });
    expect(loud?.message).toContain("do NOT run");
    expect(machine.started()).toEqual([]);
  });

  test("an untrusted skill has no shell at all", async () => {
    const machine = bareMachine();
    const script = [bash("echo ran"), says("No shell.")];
    const runs = await openRuns(machine, script, { paths: [join(machine.root, "other")] });
    const { result, events } = await runs.run({ skill: "theirs", approve: "all" });
    expect(result).toMatchObject({ trust: "untrusted", sandbox: { backend: "absent" } });
    expect(eventsOf(events, "tool-finished")).toMatchObject([
      { isError: true, text: expect.stringMatching(/commands do not run/i) },
    ]);
    expect(result.diagnostics.find(({ code }) => code === "sandbox.unavailable")).toMatchObject({
      hint: expect.stringMatching(INSTALL),
    });
    expect(machine.started()).toEqual([]);
  });

  test("a sandbox that the config names is not replaced by another", async () => {
    const machine = bareMachine();
    machine.write({ "home/.metier/config.toml": '[sandbox]\nbackend = "bubblewrap"\n' });
    const runs = await openRuns(machine, [bash("echo ran"), says("No shell.")]);
    const { result, events } = await runs.run({ skill: "own", approve: "all" });
    expect(result.sandbox.backend).toBe("absent");
    expect(eventsOf(events, "tool-finished")).toMatchObject([{ isError: true }]);
    expect(machine.started()).toEqual([]);
  });

  test("the tour still runs, and says what holds its commands", async () => {
    const machine = bareMachine();
    const { code, stdout, stderr } = await machine.cli("tour");
    expect(stderr).toContain("▸ bash wc -w < meeting-notes.md");
    expect(stdout).toContain("commands run in an interpreted shell");
    expect(stdout).toContain("The notes have 88 words.");
    expect(code).toBe(0);
    expect(machine.started()).toEqual([]);
  });
});
