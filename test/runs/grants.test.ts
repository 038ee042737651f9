/** What a skill declares, what the user grants, and what the result says was used. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChat } from "../support/chat.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, openRuns, readLog, says, useSkill } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill, type World } from "../support/world.ts";

const NOTHING = { network: [], read: [], write: [] };

/** A world with `data` beside home and project, and a trusted skill that declares this. */
function worldWith(sandbox: string, config = ""): World {
  const world = createRunWorld({ pdf: [`sandbox: ${sandbox}`] });
  world.write({
    "data/in.txt": "the numbers",
    "data/.env": "KEY=hidden",
    "data/out/old.txt": "old",
    "home/.metier/config.toml": `[tools]\nwrite_file = "allow"\nbash = "allow"\n${config.replaceAll("DATA", join(world.root, "data"))}`,
  });
  return world;
}

verifies(
  183,
  "file tools reach what is declared and granted, and the result says what was used",
  async () => {
    const world = worldWith(
      "{ read: [../data], write: [../data/out] }",
      '[sandbox]\nread = ["DATA"]\nwrite = ["DATA/out"]\n',
    );
    const data = join(world.root, "data");
    const { run } = await openRuns(world, [
      calls("read_file", { path: "../data/in.txt" }),
      calls(
        "write_file",
        { path: join(data, "out/new.txt"), content: "x" },
        { toolResult: { contains: ["the numbers"] } },
      ),
      calls("write_file", { path: join(data, "in.txt"), content: "x" }),
      calls("read_file", { path: join(data, ".env") }, { toolResult: { contains: ["not writable"] } }),
      says("Done.", { toolResult: { contains: ["does not exist"] } }),
    ]);
    const { result } = await run({ skill: "pdf" });
    expect(result.status).toBe("completed");
    expect(result.sandbox).toMatchObject({
      declared: { network: [], read: ["../data"], write: ["../data/out"] },
      granted: { network: [], read: [data], write: [join(data, "out")] },
      used: { network: [], read: [join(data, "in.txt")], write: [join(data, "out/new.txt")] },
    });
    expect(result.diagnostics.filter(({ code }) => code.startsWith("sandbox.path"))).toEqual([]);
    expect(readLog(world, result.runId).at(-1)).toMatchObject({
      type: "run-finished",
      sandbox: result.sandbox,
    });
  },
);

test("what is declared but not granted is not there, and the run says what to write where", async () => {
  const world = worldWith("{ read: [../data], network: [api.example.com] }", "");
  const { run } = await openRuns(world, [
    calls("read_file", { path: "../data/in.txt" }),
    says("Done.", { toolResult: { contains: ["outside the folders this run can see"] } }),
  ]);
  const { result } = await run({ skill: "pdf" });
  expect(result.sandbox).toMatchObject({ granted: NOTHING, used: NOTHING });
  const [missing] = result.diagnostics.filter(({ code }) => code === "sandbox.not-granted");
  expect(missing?.hint).toContain("[skills.pdf.sandbox]");
  expect(missing?.hint).toContain(`read = ["${join(world.root, "data")}"]`);
  expect(missing?.hint).toContain('network = ["api.example.com"]');
});

test("a project file cannot grant, and neither can an untrusted skill be granted anything", async () => {
  const world = worldWith("{ read: [../data] }");
  const granting = `[sandbox]\nread = ["${join(world.root, "data")}"]\n`;
  world.write({ "project/.metier/config.toml": granting });
  const { run } = await openRuns(world, [says("Done.")]);
  expect((await run({ skill: "pdf" })).result.sandbox.granted).toEqual(NOTHING);

  world.write({
    "other/theirs/SKILL.md": skill("theirs", "sandbox: { read: [../data] }"),
    "home/.metier/config.toml": granting,
  });
  const theirs = await openRuns(world, [says("Done.")], { paths: [join(world.root, "other")] });
  const { result } = await theirs.run({ skill: "theirs" });
  expect(result).toMatchObject({ trust: "untrusted", sandbox: { granted: NOTHING } });
  expect(result.diagnostics.find(({ code }) => code === "invoke.withheld")?.message).toContain(
    "`sandbox.read`",
  );
});

test("a granted folder that is not there is said, and not made", async () => {
  const world = worldWith("{ write: [../gone] }", '[skills.pdf.sandbox]\nwrite = ["DATA/../gone"]\n');
  const { run } = await openRuns(world, [says("Done.")]);
  const { result } = await run({ skill: "pdf" });
  expect(result.sandbox.granted).toEqual(NOTHING);
  expect(result.diagnostics.find(({ code }) => code === "sandbox.path-not-shown")).toMatchObject({
    message: expect.stringContaining("it does not exist"),
    hint: expect.stringContaining("create the folder"),
  });
  expect(existsSync(join(world.root, "gone"))).toBe(false);
});

test("the user's own conversation has what any trusted skill has", async () => {
  const world = worldWith("{ read: [] }", '[sandbox]\nread = ["DATA"]\n');
  const { chat, model } = await openChat(world, [
    calls("read_file", { path: "../data/in.txt" }),
    says("Read.", { toolResult: { contains: ["the numbers"] } }),
  ]);
  expect((await chat.send("Read it.")).text).toBe("Read.");
  model.assertDone();
});

test("a nested run has a grant only where the run that starts it has it", async () => {
  const world = worldWith("{ read: [../data] }", '[skills.pdf.sandbox]\nread = ["DATA"]\n');
  world.write({
    "home/.metier/skills/outer/SKILL.md": skill("outer", "context: fork\nsandbox: { read: [] }"),
  });
  const { run } = await openRuns(world, [
    useSkill("pdf"),
    calls("read_file", { path: "../data/in.txt" }),
    says("Inner.", { toolResult: { contains: ["outside the folders this run can see"] } }),
    says("Outer."),
  ]);
  const { result } = await run({ skill: "outer" });
  expect(result.status).toBe("completed");
});

describeSandbox("commands", () => {
  verifies(183, "see granted folders as the file tools do", async () => {
    const world = worldWith("{ write: [../data] }", '[skills.pdf.sandbox]\nwrite = ["DATA"]\n');
    const data = join(world.root, "data");
    mkdirSync(join(world.home, "private"));
    symlinkSync(join(world.home, "private"), join(data, "link"));
    const { run } = await openRuns(world, [
      bash(
        `cd ${JSON.stringify(data)} && cat in.txt && echo new > made.txt && cat .env; echo x > link/y; mkdir .vscode; true`,
      ),
      says("Done.", { toolResult: { contains: ["the numbers"] } }),
    ]);
    const { result } = await run({ skill: "pdf" });
    expect(result.status).toBe("completed");
    expect(readFileSync(join(data, "made.txt"), "utf8")).toBe("new\n");
    expect(JSON.stringify(readLog(world, result.runId))).not.toContain("hidden");
    expect(existsSync(join(world.home, "private/y"))).toBe(false);
  });

  test("cannot move a granted folder aside and have another shown in its place", async () => {
    const world = worldWith(
      "{ write: [../data], read: [../data/a/b/c] }",
      '[skills.pdf.sandbox]\nwrite = ["DATA"]\nread = ["DATA/a/b/c"]\n',
    );
    world.write({ "data/a/b/c/x": "", "home/private/secret": "do not show" });
    const data = join(world.root, "data");
    const { run } = await openRuns(world, [
      bash(`cd '${data}' && mv a old; mkdir -p a/b && ln -s '${world.home}/private' a/b/c; true`),
      bash(`cat '${data}/a/b/c/secret'; true`),
      says("Done."),
    ]);
    const { result } = await run({ skill: "pdf" });
    expect(existsSync(join(data, "old/b/c/x"))).toBe(true);
    expect(JSON.stringify(readLog(world, result.runId))).not.toContain("do not show");
  });
});
