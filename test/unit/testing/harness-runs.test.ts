/** Runs of a skill under test: a real loop over a script, strict both ways, in folders that are gone afterwards. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SkillTestHarness } from "metier/testing";
import { expect, test } from "vitest";
import { calls, programTool, says } from "../../support/scripted-runs.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";
import { skill } from "../../support/world.ts";

function openReader(options = {}): SkillTestHarness {
  const folder = temporaryFolder();
  writeTree(folder, {
    "reader/SKILL.md": skill("reader", "", "Read $0."),
    "reader/notes.md": "The tide is high.",
  });
  return new SkillTestHarness({ skillPath: join(folder, "reader"), ...options });
}

test("a run follows its script, and its calls are listed", async () => {
  const { result, calls: made } = await openReader().run({
    arguments: "notes.md",
    script: [
      calls("read_skill_file", { skill: "reader", path: "notes.md" }, { system: "Read notes.md." }),
      calls("bash", { command: "rm notes.md" }, { toolResult: "The tide is high." }),
      calls("no_such_tool", {}),
      says("High."),
    ],
  });
  expect(result).toMatchObject({ status: "completed", text: "High.", trust: "trusted" });
  expect(made).toMatchObject([
    { tool: "read_skill_file", input: { path: "notes.md" }, denied: false, isError: false },
    { tool: "bash", denied: true, text: expect.stringContaining("was not allowed") },
    { tool: "no_such_tool", denied: true },
  ]);
});

test("nothing is left behind", async () => {
  const { events } = await openReader().run({ script: [says("Done.")] });
  const [started] = events.filter((event) => event.type === "run-started");
  expect(started && existsSync(started.workDir)).toBe(false);
  expect(started && existsSync(started.cwd)).toBe(false);
});

test("a question that the script does not expect fails, and so does a turn that nobody asked for", async () => {
  const harness = openReader();
  await expect(harness.run({ script: [says("Done.", { system: "Write." })] })).rejects.toThrow(
    "Turn 1 of the script `reader`: expected the system prompt",
  );
  await expect(harness.run({ script: [calls("list_files", { path: "." })] })).rejects.toThrow(
    "The script `reader` has 1 turns, but the model was asked once more.",
  );
  await expect(harness.run({ script: [says("Done."), says("More.")] })).rejects.toThrow(
    "The script `reader` has 2 turns, but the model was asked only 1 times.",
  );
  const source = { source: "user", input: { topic: 1 } } as const;
  const strict = new SkillTestHarness({
    skill: {
      name: "strict",
      description: "Strict.",
      instructions: "Do.",
      "input-schema": { type: "object", properties: { topic: { type: "string" } } },
    },
  });
  await expect(strict.run({ ...source, script: [says("Done.")] })).rejects.toThrow(
    /The run had ended: .*topic/,
  );
});

test("tools of the program, its approval and the trust it gives hold in the run", async () => {
  const tool = programTool("lookup", "42");
  const trusted = await openReader({ tools: [tool] }).run({ script: [calls("lookup", {}), says("42")] });
  expect(trusted.calls).toMatchObject([{ tool: "lookup", text: "42", denied: false }]);
  const untrusted = await openReader({ trust: "untrusted" }).run({ script: [says("Done.")] });
  expect(untrusted.result.trust).toBe("untrusted");
});

test("a recording is replayed in place of a script", async () => {
  const record = join(temporaryFolder(), "run.jsonl");
  const harness = openReader();
  await harness.run({ arguments: "a", script: [calls("list_files", { path: "." }), says("Empty.")], record });
  const { result, calls: made } = await harness.run({ arguments: "a", replay: record });
  expect(result).toMatchObject({ status: "completed", text: "Empty." });
  expect(made).toMatchObject([{ tool: "list_files" }]);
  const other = await harness.run({ arguments: "b", replay: record });
  expect(other.result).toMatchObject({ status: "failed", error: { code: "replay.diverged" } });
});

test("a run without anything that answers is a fault of the program", async () => {
  await expect(openReader().run({})).rejects.toThrow("needs something that answers in place of a model");
});
