/** The tools for clients that do not know the Skills extension, in both versions of the protocol. */
import { answer, type Tool } from "@metier/run";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { callText, PROTOCOLS, serve } from "../../../../test/support/mcp-clients.ts";
import { calls, createRunWorld, openRuns, says } from "../../../../test/support/scripted-runs.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";

const SKILLS = "home/.metier/skills";

function mixedWorld(): World {
  const world = createWorld();
  world.write({
    [`${SKILLS}/codeword/SKILL.md`]: skill("codeword", "", "The codeword is HERON-52. Hello $ARGUMENTS."),
    [`${SKILLS}/codeword/references/more.md`]: "# More\n\nAnd OTTER-7.\n",
    [`${SKILLS}/forking/SKILL.md`]: skill("forking", "context: fork"),
    [`${SKILLS}/keyed/SKILL.md`]: skill("keyed", "env: [SOME_KEY]"),
    [`${SKILLS}/diary/SKILL.md`]: skill("diary", "sensitive: true"),
    "project/.claude/skills/theirs/SKILL.md": skill("theirs", "", "Text of somebody."),
  });
  return world;
}

describe.each(PROTOCOLS)("in version %s", (version) => {
  test("there are four tools, and `use_skill` names the skills it can use", async () => {
    const client = await (await serve(await mixedWorld().metier())).connect(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "use_skill",
      "find_skills",
      "list_skills",
      "read_skill_file",
    ]);
    expect(tools[0]?.inputSchema.properties?.skill).toMatchObject({
      enum: ["codeword", "theirs"],
    });
    expect(client.getInstructions()).toContain("codeword");
    expect(client.getInstructions()).not.toContain("diary");
  });

  test("`use_skill` gives the instructions each time it is asked, with arguments put in", async () => {
    const client = await (await serve(await mixedWorld().metier())).connect(version);
    for (const who of ["Ada", "Ada"]) {
      const { text, isError } = await callText(client, "use_skill", { skill: "codeword", arguments: who });
      expect(isError).toBe(false);
      expect(text).toContain("The codeword is HERON-52. Hello Ada.");
      expect(text).toContain("<file>references/more.md</file>");
    }
    expect(
      (await callText(client, "read_skill_file", { skill: "codeword", path: "references/more.md" })).text,
    ).toBe("# More\n\nAnd OTTER-7.\n");
    const found = await callText(client, "find_skills", { query: "codeword" });
    expect(JSON.parse(found.text)[0]).toEqual({ name: "codeword", description: "The codeword skill." });
  });

  test("a skill that needs a run is not there for the model [L8]", async () => {
    const client = await (await serve(await mixedWorld().metier())).connect(version);
    for (const name of ["forking", "keyed"]) {
      const { text, isError } = await callText(client, "use_skill", { skill: name });
      expect(isError).toBe(true);
      expect(text).toContain("Invalid input for `use_skill`");
      expect(text).not.toContain("metier ");
    }
  });

  test("with runs, the same skill is run, and the client hears how it goes on", async () => {
    const world = createRunWorld({ forking: ["context: fork", "Find the answer."] });
    const { metier } = await openRuns(world, [calls("list_files", { path: "." }), says("It is 42.")]);
    const client = await (await serve(metier, { run: {} })).connect(version);
    const heard: (string | undefined)[] = [];
    const { content } = await client.callTool(
      { name: "use_skill", arguments: { skill: "forking", message: "Do it." } },
      { onprogress: ({ message }) => heard.push(message) },
    );
    expect(JSON.stringify(content)).toContain("It is 42.");
    expect(heard[0]).toMatch(/^forking: started/);
    expect(heard).toContain("list_files");
  });
});

test("cancelling a call ends its run with what it was doing", async () => {
  let ended: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const controller = new AbortController();
  const waiting: Tool = {
    name: "wait_for_it",
    description: "Waits.",
    inputSchema: { type: "object" },
    effect: "read",
    execute: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          ended();
          resolve(answer("stopped"));
        });
        controller.abort("enough");
      }),
  };
  const world = createRunWorld({ slow: ["context: fork"] });
  const { metier } = await openRuns(world, [calls("wait_for_it", {})], { tools: [waiting] });
  const client = await (await serve(metier, { run: {} })).connect();
  const call = client.callTool(
    { name: "use_skill", arguments: { skill: "slow", message: "Do it." } },
    { signal: controller.signal },
  );
  await expect(call).rejects.toThrow("enough");
  await stopped;
});

test("nobody can be asked, so a tool that needs a yes is denied", async () => {
  const world = createRunWorld({ writer: ["context: fork"] });
  const { metier } = await openRuns(world, [
    calls("write_file", { path: "x.txt", content: "x" }),
    says("I may not write."),
  ]);
  const client = await (await serve(metier, { run: {} })).connect();
  const heard: (string | undefined)[] = [];
  await client.callTool(
    { name: "use_skill", arguments: { skill: "writer", message: "Do it." } },
    { onprogress: ({ message }) => heard.push(message) },
  );
  expect(heard).toContain("write_file: denied");
});

test("the text of an untrusted skill comes with a warning, in lists too", async () => {
  const metier = await mixedWorld().metier({ trust: "grants" });
  const client = await (await serve(metier)).connect();
  const { text } = await callText(client, "use_skill", { skill: "theirs" });
  expect(text).toMatch(/^Skill `theirs` is untrusted: nobody vouches for the text below\./);
  expect(text).toContain("Text of somebody.");
  const listed = await callText(client, "list_skills", {});
  expect(JSON.parse(listed.text)).toContainEqual({
    name: "theirs",
    description: "The theirs skill.",
    trust: "untrusted",
  });
});

test("once a connection was given untrusted text, a skill's pre-approval counts no more in it", async () => {
  const world = createRunWorld({ writer: ["max-iterations: 3\nallowed-tools: write_file"] });
  world.write({ "project/.claude/skills/theirs/SKILL.md": skill("theirs") });
  const turns = [calls("write_file", { path: "x.txt", content: "x" }), says("Done.")];
  const { metier } = await openRuns(world, [...turns, ...turns], { trust: "grants" });
  const served = await serve(metier, { run: {} });
  const write = async (client: Client): Promise<readonly (string | undefined)[]> => {
    const heard: (string | undefined)[] = [];
    await client.callTool(
      { name: "use_skill", arguments: { skill: "writer", message: "Do it." } },
      { onprogress: ({ message }) => heard.push(message) },
    );
    return heard;
  };
  expect(await write(await served.connect("2025-11-25"))).toContain("write_file");
  const tainted = await served.connect("2025-11-25");
  await callText(tainted, "read_skill_file", { skill: "theirs", path: "SKILL.md" });
  expect(await write(tainted)).toContain("write_file: denied");
});

test.each([
  ["use_skill", { skill: "diary" }, "use_skill"],
  ["use_skill", { skill: "codeword", source: "code" }, "use_skill"],
  ["use_skill", {}, "use_skill"],
  ["read_skill_file", { skill: "codeword", path: "../forking/SKILL.md" }, "path"],
  ["read_skill_file", { skill: "codeword", path: "/etc/passwd" }, "path"],
  ["read_skill_file", { skill: "diary", path: "SKILL.md" }, "read_skill_file"],
  ["find_skills", { query: 5 }, "find_skills"],
])("%s refuses %j in words", async (name, input, word) => {
  const client = await (await serve(await mixedWorld().metier())).connect();
  const { text, isError } = await callText(client, name, input);
  expect(isError).toBe(true);
  expect(text).toContain(word);
});

test("a tool that is not there is a fault of the request", async () => {
  const client = await (await serve(await mixedWorld().metier())).connect();
  await expect(callText(client, "bash", {})).rejects.toThrow("There is no tool `bash`");
});

test("without a skill there is no tool", async () => {
  const client = await (await serve(await createWorld().metier())).connect();
  expect((await client.listTools()).tools).toEqual([]);
  expect((await client.listPrompts()).prompts).toEqual([]);
});
