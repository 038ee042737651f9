import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@metier/run/model";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/support/repository.ts";
import { sandboxTest } from "../../../test/support/sandbox.ts";
import { createWorld, type World } from "../../../test/support/world.ts";

const WRITER = `---
name: note-writer
description: Write a note.
---

Write a note about $ARGUMENTS.
`;

const WRITES: Script = [
  {
    answer: {
      text: "Writing.",
      toolCalls: [{ tool: "write_file", input: { path: "note.txt", content: "hello" } }],
    },
  },
  { answer: { text: "The note is written." } },
];

/** A world with one trusted skill and a script for the model. */
function createRunWorld(script: Script): World & { readonly model: string } {
  const world = createWorld();
  const file = join(world.root, "script.json");
  writeFileSync(file, JSON.stringify(script));
  world.write({ "home/.metier/skills/note-writer/SKILL.md": WRITER });
  return { ...world, model: `scripted:${file}` };
}

const ANSWERS: Script = [{ answer: { text: "Done." } }];

describe("metier run", () => {
  test("prints the answer to standard output and what happens to standard error", async () => {
    const world = createRunWorld(ANSWERS);
    const { code, stdout, stderr } = await world.cli("run", "note-writer", "a note", "--model", world.model);
    expect([code, stdout]).toEqual([0, "Done.\n"]);
    expect(stderr).toContain("note-writer");
    expect(stderr).toContain("step 1: stop");
  });

  test("prints the result alone with --json, also for a refusal", async () => {
    const world = createRunWorld(ANSWERS);
    const { json } = await world.cli("run", "note-writer", "--model", world.model, "--json");
    expect(json).toMatchObject({
      skill: "note-writer",
      status: "completed",
      text: "Done.",
      isolated: true,
      trust: "trusted",
      iterations: 1,
      denied: [],
      files: [],
    });
    const refused = await world.cli("run", "note-riter", "--json");
    expect(refused.code).toBe(3);
    expect(refused.json).toMatchObject({ status: "refused", refusal: { reason: "not-found", also: [] } });
    expect(refused.json.refusal.message).toContain("note-writer");
  });

  test("prints every event as a line of JSON with --events", async () => {
    const world = createRunWorld(ANSWERS);
    const { stdout } = await world.cli("run", "note-writer", "--model", world.model, "--events");
    const types = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type)
      .filter((type) => type !== "text-delta");
    expect(types).toEqual(["run-started", "model-called", "model-answered", "run-finished"]);
  });

  test("shows what a run would be with --dry-run, and asks no model", async () => {
    const world = createRunWorld([]);
    const { code, stdout } = await world.cli(
      "run",
      "note-writer",
      "--args",
      "tides",
      "--model",
      world.model,
      "--dry-run",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("Write a note about tides.");
    expect(stdout).toMatch(/tools {6}bash, read_file/);
    const { json } = await world.cli("run", "note-writer", "--model", world.model, "--dry-run", "--json");
    expect(json).toMatchObject({ skill: "note-writer", env: [], limits: { maxIterations: 10 } });
    expect((await world.cli("runs", "--json")).json).toEqual({ runs: [] });
  });

  test("says exactly what to do when there is no model, and keeps no run", async () => {
    const world = createRunWorld(ANSWERS);
    const { code, stderr } = await world.cli("run", "note-writer");
    expect(code).toBe(6);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(stderr).toContain("[models.default]");
    expect((await world.cli("runs", "--json")).json).toEqual({ runs: [] });
  });

  test("without a terminal a question is a no, listed in the result; --approve says yes", async () => {
    const world = createRunWorld(WRITES);
    const flags = ["--model", world.model, "--write", "--json"];
    const declined = await world.cli("run", "note-writer", ...flags);
    expect(declined.json.denied).toEqual([
      { tool: "write_file", reason: expect.stringContaining("nobody to ask") },
    ]);
    const approved = await world.cli("run", "note-writer", ...flags, "--approve");
    expect(approved.json.denied).toEqual([]);
  });

  test("asks in a terminal, and takes no for an answer", async () => {
    const world = createRunWorld(WRITES);
    const flags = ["--model", world.model, "--write"];
    const { stderr, stdout } = await world.cliAnswering(["n"], "run", "note-writer", ...flags);
    expect(stdout).toContain("Allow? ");
    expect(stderr).toContain("note-writer wants to call write_file");
    expect(stderr).toContain("not allowed: write_file: the user declined");
  });

  test("[U4] asks nobody about a write that cannot succeed, and names --write", async () => {
    const world = createRunWorld([
      ...WRITES.slice(0, 1),
      {
        expect: { toolResult: { contains: ["read-only without `--write`"] } },
        answer: { text: "Not written." },
      },
    ]);
    const { code, stdout, stderr } = await world.cliAnswering(
      [],
      "run",
      "note-writer",
      "--model",
      world.model,
    );
    expect([code, stdout]).toEqual([0, "Not written.\n"]);
    expect(stderr).not.toContain("wants to call");
    expect(stderr).toContain(
      "not allowed: write_file: the working directory is read-only; allow changes with `--write`",
    );
    const approved = await world.cli("run", "note-writer", "--model", world.model, "--approve", "--json");
    expect(approved.json.denied).toMatchObject([{ tool: "write_file" }]);
    expect(existsSync(join(world.project, "note.txt"))).toBe(false);
  });

  test("[U4] a pre-approved write says the same to the model", async () => {
    const world = createRunWorld([
      ...WRITES.slice(0, 1),
      {
        expect: { toolResult: { contains: ["read-only without `--write`"] } },
        answer: { text: "Not written." },
      },
    ]);
    const allowed = WRITER.replace("description", "allowed-tools: Write\ndescription");
    world.write({ "home/.metier/skills/note-writer/SKILL.md": allowed });
    const { json } = await world.cli("run", "note-writer", "--model", world.model, "--json");
    expect(json).toMatchObject({ status: "completed", text: "Not written." });
  });

  test("records a run and replays it without the model", async () => {
    const world = createRunWorld(ANSWERS);
    const recording = join(world.root, "run.jsonl");
    await world.cli("run", "note-writer", "--model", world.model, "--record", recording);
    expect(readFileSync(recording, "utf8")).toContain('"type":"model-answered"');
    const replayed = await world.cli("run", "note-writer", "--replay", recording);
    expect([replayed.code, replayed.stdout]).toEqual([0, "Done.\n"]);
    const other = await world.cli("run", "note-writer", "another message", "--replay", recording);
    expect(other.code).toBe(5);
    expect(other.stderr).toContain("differs from the recording at step 1");
  });

  test("refuses to record where it cannot, before a run begins", async () => {
    const world = createRunWorld(ANSWERS);
    const recording = join(world.root, "none", "run.jsonl");
    const flags = ["--model", world.model, "--record", recording, "--json"];
    const { code, json } = await world.cli("run", "note-writer", ...flags);
    expect(code).toBe(2);
    expect(json.error.message).toContain(`cannot be recorded to \`${recording}\``);
    expect(existsSync(join(world.home, ".metier/state/runs"))).toBe(false);
  });

  test("leaves an older recording as it is when there is no model", async () => {
    const world = createRunWorld(ANSWERS);
    world.write({ "run.jsonl": "before" });
    await world.cli("run", "note-writer", "--record", join(world.root, "run.jsonl"));
    expect(readFileSync(join(world.root, "run.jsonl"), "utf8")).toBe("before");
    expect(readdirSync(world.root).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("fetches no key with --dry-run", async () => {
    const world = createRunWorld(ANSWERS);
    const mark = join(world.root, "fetched");
    world.write({
      "home/.metier/config.toml": `[models.default]\nprovider = "anthropic"\nmodel = "m"\napi-key-command = ["touch", ${JSON.stringify(mark)}]\n`,
    });
    const { code, json } = await world.cli("run", "note-writer", "--dry-run", "--json");
    expect([code, json.model]).toEqual([0, "anthropic/m"]);
    expect(existsSync(mark)).toBe(false);
  });

  test("prints one JSON value or many lines of it, but not both", async () => {
    const { code, json } = await createRunWorld(ANSWERS).cli("run", "note-writer", "--events", "--json");
    expect(code).toBe(2);
    expect(json.error.message).toContain("`--json` prints only the result");
  });

  sandboxTest("copies what the run left in its work folder with --out", async () => {
    const command =
      "cd $METIER_WORK_DIR; echo kept > kept.txt; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x > .envrc";
    const world = createRunWorld([
      { answer: { toolCalls: [{ tool: "bash", input: { command } }] } },
      { answer: { text: "Done." } },
    ]);
    const out = join(world.root, "out");
    const args = ["run", "note-writer", "--model", world.model, "--approve", "--out", out, "--json"];
    const { json } = await world.cli(...args);
    expect(json.files).toContainEqual({ path: "kept.txt", size: 5 });
    expect(readdirSync(out)).toEqual(["kept.txt"]); // Not what other programs would obey.
    expect(readFileSync(join(out, "kept.txt"), "utf8")).toBe("kept\n");
  });

  sandboxTest("still prints the result when --out cannot be written to, and ends with 5", async () => {
    const world = createRunWorld([
      { answer: { toolCalls: [{ tool: "bash", input: { command: "echo x > $METIER_WORK_DIR/a.txt" } }] } },
      { answer: { text: "Done." } },
    ]);
    world.write({ taken: "a file" });
    const flags = ["--model", world.model, "--approve", "--out", join(world.root, "taken"), "--json"];
    const { code, json } = await world.cli("run", "note-writer", ...flags);
    expect(code).toBe(5);
    expect(json).toMatchObject({ status: "completed", text: "Done." });
    expect(json.diagnostics).toContainEqual(expect.objectContaining({ code: "run.copy-failed" }));
  });

  test.each([
    [["--input", "@none.json"], "Can't read `--input`"],
    [["--variables", "none.env"], "Can't read `--variables`"],
    [["--variables", "a", "--env-file", "b"], "are the same"],
    [["--input", "{"], "`--input` is not JSON"],
    [["--max-iterations", "0"], "`--max-iterations` is `0`"],
    [["--timeout", "soon"], "`--timeout` is `soon`"],
    [["--replay", "a", "--model", "b"], "`--replay` replaces the model"],
  ])("refuses %j with a reason", async (flags, message) => {
    const world = createRunWorld(ANSWERS);
    const { code, stderr } = await world.cli("run", "note-writer", ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("ends with 4 at a limit and with 5 when the model fails, with the text so far", async () => {
    const again: Script[number] = {
      answer: { text: "Still at it.", toolCalls: [{ tool: "list_files", input: {} }] },
    };
    const limited = createRunWorld([again]);
    const outcome = await limited.cli(
      "run",
      "note-writer",
      "--model",
      limited.model,
      "--max-iterations",
      "1",
    );
    expect([outcome.code, outcome.stdout]).toEqual([4, "Still at it.\n"]);
    const failing = createRunWorld([again, { answer: { error: { message: "no such thing", status: 400 } } }]);
    const failed = await failing.cli("run", "note-writer", "--model", failing.model);
    expect([failed.code, failed.stdout]).toEqual([5, "Still at it.\n"]);
    expect(failed.stderr).toContain("The provider answered 400");
  });

  test("hides the file of --variables from the run, and redacts all that is in it", async () => {
    const world = createRunWorld([
      { answer: { toolCalls: [{ tool: "read_file", input: { path: "keys.txt" } }] } },
      { answer: { text: "It is undeclared-12345." } },
    ]);
    world.write({ "project/keys.txt": "OTHER=undeclared-12345\n" });
    const flags = ["--model", world.model, "--variables", "keys.txt", "--events"];
    const { stdout } = await world.cli("run", "note-writer", ...flags);
    expect(stdout).not.toContain("undeclared-12345");
    expect(stdout).toContain("It is [redacted:OTHER].");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const read = events.find(({ type }) => type === "tool-finished");
    expect(read).toMatchObject({ isError: true });
  });

  sandboxTest("hides the file of --variables from commands in the skill's text too", async () => {
    const world = createRunWorld(ANSWERS);
    world.write({
      "home/.metier/config.toml": "[skills]\ndynamic-context = true\n",
      "home/.metier/skills/note-writer/SKILL.md": `${WRITER}\nShown: !\`cat open.txt; cat keys.txt || true\`\n`,
      "project/open.txt": "anyone may read this\n",
      "project/keys.txt": "# a remark about keys\n",
    });
    const flags = ["--model", world.model, "--variables", "keys.txt", "--events"];
    const { stdout } = await world.cli("run", "note-writer", ...flags);
    expect(stdout).toContain("anyone may read this");
    expect(stdout).not.toContain("a remark about keys");
  });

  test("reports a missing file of --variables itself, as a process", () => {
    const main = join(ROOT, "packages/cli/src/main.ts");
    const args = [main, "run", "note-writer", "--variables", "none.env", "--json"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([status, stderr]).toEqual([2, ""]);
    expect(JSON.parse(stdout).error.message).toContain("Can't read `--variables`");
  });

  test.each(["--variables", "--env-file"])(
    "reads values for declared variables from %s and names them only",
    async (flag) => {
      const world = createRunWorld(ANSWERS);
      world.write({
        "home/.metier/skills/key-user/SKILL.md": WRITER.replace(
          "name: note-writer",
          "name: key-user\nenv: [API_KEY]",
        ),
        "project/keys.env": "API_KEY=abcdefgh-12345\nOTHER=x\n",
      });
      const refused = await world.cli("run", "key-user", "--model", world.model, "--json");
      expect(refused.json.refusal).toMatchObject({ reason: "environment", data: { missing: ["API_KEY"] } });
      const { json, stdout } = await world.cli(
        "run",
        "key-user",
        "--model",
        world.model,
        flag,
        "keys.env",
        "--dry-run",
        "--json",
      );
      expect(json.env).toEqual(["API_KEY"]);
      expect(stdout).not.toContain("abcdefgh-12345");
    },
  );
});
