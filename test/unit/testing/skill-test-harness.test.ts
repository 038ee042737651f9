/** The harness in every form: from a folder, a file and an instance; nothing of this machine reaches it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SkillNotFoundError, SkillValidationError, UsageError } from "@metier/base/errors";
import { SkillManager } from "@metier/runtime";
import { createSkillHarness, SkillTestHarness } from "metier/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";
import { verifies } from "../../support/verifies.ts";
import { skill } from "../../support/world.ts";

const GREETER = { name: "greeter", description: "Greets someone.", instructions: "Greet $ARGUMENTS warmly." };

/** A skill folder `reviewer`, and its path. */
function writeReviewer(more = "allowed-tools: Read Bash(git log:*)", body = "Review $ARGUMENTS."): string {
  const folder = temporaryFolder();
  writeTree(folder, { "reviewer/SKILL.md": skill("reviewer", more, body) });
  return join(folder, "reviewer");
}

describe("loading", () => {
  verifies([199, "case 99"], "a skill is loaded from a folder, a file, a URL or an instance", async () => {
    const folder = writeReviewer();
    const file = join(folder, "SKILL.md");
    for (const skillPath of [folder, file, pathToFileURL(folder)]) {
      const { info, body } = await new SkillTestHarness({ skillPath }).load();
      expect(info).toMatchObject({ name: "reviewer", description: "The reviewer skill.", location: file });
      expect(body).toBe("Review $ARGUMENTS.");
    }
    const given = await new SkillTestHarness({ skill: GREETER }).load();
    expect(given).toMatchObject({ info: { name: "greeter" }, body: "Greet $ARGUMENTS warmly." });
  });

  verifies("case 99", "a flat skill file is loaded, too", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "flat.md": skill("flat") });
    const { info } = await new SkillTestHarness({ skillPath: join(folder, "flat.md") }).load();
    expect(info).toMatchObject({ name: "flat", form: "markdown" });
  });

  verifies("case 99", "a skill that was loaded by a manager is used as it is", async () => {
    const manager = await SkillManager.create({ autoDiscover: false, home: temporaryFolder() });
    await manager.register(writeReviewer());
    const loaded = await manager.load("reviewer");
    if (loaded === undefined) throw new Error("It was registered.");
    const harness = new SkillTestHarness({ skill: { ...loaded, body: "Look at $0 only." } });
    expect(await harness.load()).toMatchObject({ body: "Look at $0 only." });
    expect(await harness.invoke("a b")).toBe("Look at a only.");
    expect(await harness.validate()).toEqual({
      valid: true,
      errors: [],
      warnings: [],
      skillPath: loaded.info.location,
    });
    expect(await harness.prepare()).toMatchObject({ ok: true });
  });

  verifies("case 99", "what was loaded is kept", async () => {
    const folder = writeReviewer();
    const harness = new SkillTestHarness({ skillPath: folder });
    const first = await harness.load();
    writeTree(folder, { "SKILL.md": skill("reviewer", "", "Changed.") });
    expect(await harness.load()).toBe(first);
  });

  test("what could not be loaded is tried again", async () => {
    const folder = temporaryFolder();
    const harness = new SkillTestHarness({ skillPath: join(folder, "late") });
    await expect(harness.load()).rejects.toThrow(SkillNotFoundError);
    writeTree(folder, { "late/SKILL.md": skill("late") });
    expect((await harness.load()).info.name).toBe("late");
  });

  verifies("case 99", "without a path and an instance there is no harness", () => {
    expect(() => new SkillTestHarness({})).toThrow(UsageError);
    expect(() => createSkillHarness({})).toThrow("A test harness needs a skill.");
  });

  verifies("case 99", "of a path and an instance the instance counts", async () => {
    const harness = new SkillTestHarness({ skillPath: writeReviewer(), skill: GREETER });
    expect((await harness.load()).info.name).toBe("greeter");
  });

  test("a broken skill, and a folder of several, are faults that say so", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      "broken/SKILL.md": "---\nname: [\n---\n",
      "two/a/SKILL.md": skill("a"),
      "two/b/SKILL.md": skill("b"),
    });
    await expect(new SkillTestHarness({ skillPath: join(folder, "broken") }).load()).rejects.toThrow(
      SkillValidationError,
    );
    await expect(new SkillTestHarness({ skillPath: join(folder, "two") }).load()).rejects.toThrow(
      "has 2 skills: `a` and `b`. A test needs exactly one.",
    );
  });
});

describe("validating", () => {
  verifies([199, "case 99"], "a path and an instance are validated", async () => {
    const folder = writeReviewer();
    const harness = new SkillTestHarness({ skillPath: folder });
    expect(await harness.validate()).toMatchObject({ valid: true, errors: [] });
    expect(await harness.validate("strict")).toMatchObject({ valid: true });
    writeTree(folder, { "SKILL.md": "---\nname: reviewer\n---\n\nText.\n" });
    expect(await harness.validate()).toMatchObject({
      valid: false,
      errors: [expect.stringContaining("description")],
    });
    expect(await new SkillTestHarness({ skill: GREETER }).validate()).toMatchObject({ valid: true });
    const nameless = { ...GREETER, name: "" };
    expect(await new SkillTestHarness({ skill: nameless }).validate()).toMatchObject({ valid: false });
  });

  test("what else lies in the skill's folder does not count", async () => {
    const folder = writeReviewer();
    writeTree(folder, { "tests/fixtures/broken/SKILL.md": "---\nname: [\n---\n" });
    expect(await new SkillTestHarness({ skillPath: folder }).validate()).toMatchObject({
      valid: true,
      errors: [],
    });
  });

  verifies("case 99", "a path without a skill is not valid, and nothing is thrown", async () => {
    const folder = temporaryFolder();
    const missing = await new SkillTestHarness({ skillPath: join(folder, "nowhere") }).validate();
    expect(missing).toMatchObject({ valid: false, skillPath: join(folder, "nowhere") });
    expect(missing.errors.join()).toContain("does not exist");
  });
});

describe("invoking", () => {
  verifies([199, "case 99"], "arguments are put into the text, in every form", async () => {
    const invoke = (body: string, args?: string, more = ""): Promise<string> =>
      new SkillTestHarness({ skillPath: writeReviewer(more, body) }).invoke(args);
    expect(await invoke("Review $ARGUMENTS.", "src/main.py")).toBe("Review src/main.py.");
    expect(await invoke("$0 then $1, not $ARGUMENTS[2].", "one 'two words'")).toBe(
      "one then two words, not .",
    );
    expect(await invoke("Look at $file.", "a.ts", "arguments: [file]")).toBe("Look at a.ts.");
    expect(await invoke("No placeholder.", "here")).toBe("No placeholder.\n\nARGUMENTS: here\n");
    expect(await invoke("No placeholder.")).toBe("No placeholder.");
    expect(await invoke("It costs $1.")).toBe("It costs $1.");
    expect(await invoke(["Read $", "{METIER_SKILL_DIR}/a.md"].join(""))).toMatch(/reviewer\/a\.md$/);
  });

  verifies("case 99", "a skill without a body has an empty text", async () => {
    for (const more of ["", "context: fork"]) {
      expect(await new SkillTestHarness({ skillPath: writeReviewer(more, "") }).invoke("x")).toBe("");
    }
  });

  test("a command in the text is not executed", async () => {
    const folder = writeReviewer("", "Now: !`date`");
    expect(await new SkillTestHarness({ skillPath: folder }).invoke()).toBe("Now: !`date`");
  });
});

verifies([199, "case 99"], "the registered tools are a copy of those that are declared", async () => {
  const harness = new SkillTestHarness({ skillPath: writeReviewer() });
  const tools = await harness.getRegisteredTools();
  expect(tools).toEqual(["Read", "Bash(git log:*)"]);
  tools.push("write_file");
  expect(await harness.getRegisteredTools()).toEqual(["Read", "Bash(git log:*)"]);
  expect(await new SkillTestHarness({ skill: GREETER }).getRegisteredTools()).toEqual([]);
});

describe("preparing", () => {
  test("a skill that needs a capability is asked about, and nothing is written", async () => {
    const more = "context: fork\ncapabilities: [notes.list]";
    const outcome = await new SkillTestHarness({ skillPath: writeReviewer(more) }).prepare({
      caller: { userId: "u" },
    });
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "capabilities" } });
    expect(existsSync("/nonexistent")).toBe(false);
  });

  test("every check is made, on the skill alone", async () => {
    const folder = writeReviewer("opt-in: true\nrequires:\n  bins: [no-such-program]");
    const outcome = await new SkillTestHarness({ skillPath: folder }).prepare();
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unavailable", also: [] } });
  });

  test("settings reach it when the test gives them, and never from this machine", async () => {
    const environment = { PATH: "/usr/bin", METIER_SKILLS__DENY: '["reviewer"]' };
    const harness = new SkillTestHarness({ skillPath: writeReviewer(), environment });
    expect(await harness.prepare()).toMatchObject({ ok: true });
    const config = { skills: { disabled: ["reviewer"] } };
    expect(await new SkillTestHarness({ skillPath: writeReviewer(), config }).prepare()).toMatchObject({
      refusal: { reason: "disabled" },
    });
  });
});
