/** Toolsets in runs: who may load them, what the policy makes of their tools, and what becomes of the run without them. */
import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalQuestion } from "@metier/run";
import { describe, expect, test } from "vitest";
import { sleepersOf, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { calls, createRunWorld, eventsOf, openRuns, says, useSkill } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill, type World } from "../support/world.ts";

const TOOLS = `
import { defineToolset } from "metier/toolset";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

writeFileSync(process.env.METIER_WORK_DIR + "/loaded.txt", "");

export const Pages = defineToolset({
  tools: {
    extract: {
      description: "Extracts a page.",
      input: { type: "object", properties: { page: { type: "integer" } }, required: ["page"], additionalProperties: false },
      run: ({ page }) => "page " + page,
    },
    key: { description: "Tells the key.", input: { type: "object" }, run: () => process.env.PDF_KEY ?? "no key" },
    wait: {
      description: "Waits.",
      input: { type: "object", properties: { mark: { type: "string" } } },
      run: ({ mark = "0" }) => new Promise(() => spawn("sleep", [mark])),
    },
  },
});
`;

/** A trusted skill `pdf` with these lines in its frontmatter and, unless given, the toolset above. */
function createPdf(more = "", code = TOOLS): World {
  const world = createRunWorld({ pdf: [`toolsets: ["toolsets/index:Pages"]\n${more}`] });
  world.write({ "home/.metier/skills/pdf/toolsets/index.ts": code });
  return world;
}

const EXTRACT = calls("pdf__extract", { page: 3 });

describeSandbox("the tools of a skill's toolsets", () => {
  verifies(
    [39, 138, 154],
    "are offered to the model under the skill's name, called in the sandbox and recorded",
    async () => {
      const world = createPdf("allowed-tools: [extract]");
      const { run } = await openRuns(world, [
        calls("pdf__extract", { page: 3 }, { tools: ["pdf__extract", "pdf__key", "pdf__wait"] }),
        says("Done.", { toolResult: "page 3" }),
      ]);
      const { result, events } = await run({ skill: "pdf" });
      expect(result).toMatchObject({ status: "completed", denied: [], diagnostics: [] });
      expect(result.files.map(({ path }) => path)).toContain("loaded.txt");
      expect(eventsOf(events, "run-started")[0]?.tools).toContain("pdf__extract");
      expect(eventsOf(events, "tool-finished")).toMatchObject([{ tool: "pdf__extract", text: "page 3" }]);
    },
  );

  test("check their input like every tool", async () => {
    const { run } = await openRuns(createPdf("allowed-tools: [extract]"), [
      calls("pdf__extract", { page: "three" }),
      calls("pdf__extract", { page: 3, more: 1 }, { toolResult: { contains: ["Invalid input", "page"] } }),
      says("Could not.", { toolResult: { contains: ["Invalid input", "more"] } }),
    ]);
    expect((await run({ skill: "pdf" })).result.status).toBe("completed");
  });

  test("go under their own names where the config says so", async () => {
    const world = createPdf("allowed-tools: [extract]");
    world.write({ "home/.metier/config.toml": "[skills]\nnamespace-tools = false\n" });
    const { run } = await openRuns(world, [
      calls("extract", { page: 3 }, { tools: ["extract", "key", "wait"] }),
      says("Done.", { toolResult: "page 3" }),
    ]);
    const { result } = await run({ skill: "pdf" });
    expect(result).toMatchObject({ status: "completed", denied: [], diagnostics: [] });
  });
});

describeSandbox("the policy of a skill's own tools", () => {
  interface Case {
    readonly title: string;
    readonly frontmatter?: string;
    readonly config?: string;
    readonly approve?: "all";
    readonly happens: "yes" | "denied" | "hidden";
  }
  const CASES: readonly Case[] = [
    { title: "by default they are asked about", happens: "denied" },
    { title: "the question can be answered", approve: "all", happens: "yes" },
    {
      title: "a list that restricts does not hide them",
      frontmatter: "allowed-tools: [Read]",
      happens: "denied",
    },
    {
      title: "the skill approves its own by the tool's name",
      frontmatter: "allowed-tools: [extract]",
      happens: "yes",
    },
    { title: "… by its full name", frontmatter: 'allowed-tools: ["pdf:extract"]', happens: "yes" },
    { title: "… by the name models call", frontmatter: "allowed-tools: [pdf__extract]", happens: "yes" },
    { title: "… by a glob", frontmatter: 'allowed-tools: ["pdf:*"]', happens: "yes" },
    { title: "… not by another's name", frontmatter: 'allowed-tools: ["other:extract"]', happens: "denied" },
    { title: "the config allows by the full name", config: '"pdf:extract" = "allow"', happens: "yes" },
    { title: "… not by the tool's name alone", config: 'extract = "allow"', happens: "denied" },
    {
      title: "the config's `ask` beats the skill",
      frontmatter: "allowed-tools: [extract]",
      config: 'pdf__extract = "ask"',
      happens: "denied",
    },
    {
      title: "the config's `deny` hides, whoever says yes",
      frontmatter: "allowed-tools: [extract]",
      config: '"pdf:*" = "deny"',
      approve: "all",
      happens: "hidden",
    },
    {
      title: "`disallowed-tools` hides",
      frontmatter: "disallowed-tools: [extract]",
      config: '"pdf:extract" = "allow"',
      approve: "all",
      happens: "hidden",
    },
  ];
  for (const { title, frontmatter, config = "", approve, happens } of CASES) {
    test(title, async () => {
      const world = createPdf(frontmatter);
      world.write({ "home/.metier/config.toml": `[tools]\n${config}\n` });
      const { run } = await openRuns(world, [EXTRACT, says("Done.")]);
      const { result, events } = await run({ skill: "pdf", ...(approve && { approve }) });
      const offered = eventsOf(events, "run-started")[0]?.tools ?? [];
      expect(offered.includes("pdf__extract")).toBe(happens !== "hidden");
      expect(eventsOf(events, "tool-finished")).toMatchObject([{ isError: happens !== "yes" }]);
      expect(result.denied).toHaveLength(happens === "yes" ? 0 : 1);
    });
  }

  test("a question shows whose tool it is", async () => {
    const asked: ApprovalQuestion[] = [];
    const { run } = await openRuns(createPdf(), [EXTRACT, says("Done.", { toolResult: "page 3" })]);
    const approve = (question: ApprovalQuestion) => {
      asked.push(question);
      return "yes" as const;
    };
    await run({ skill: "pdf", approve });
    expect(asked).toMatchObject([{ skill: "pdf", tool: "pdf:extract", input: { page: 3 } }]);
  });

  test("a name in a list that no toolset has is reported, with what it may mean", async () => {
    const { run } = await openRuns(createPdf('allowed-tools: ["pdf:extrakt", extracts]'), [says("Done.")]);
    const { result } = await run({ skill: "pdf" });
    expect(result.diagnostics.map(({ code }) => code)).toEqual(["tools.unknown", "tools.unknown"]);
    expect(result.diagnostics[1]?.hint).toContain("`extract`");
  });
});

describeSandbox("a run whose toolsets bring nothing", () => {
  test("goes on without them, and says why", async () => {
    const { run } = await openRuns(createPdf("", "throw new Error('not today');"), [says("Done.")]);
    const { result } = await run({ skill: "pdf" });
    expect(result).toMatchObject({
      status: "completed",
      diagnostics: [{ code: "toolset.not-loaded", message: expect.stringContaining("not today") }],
    });
  });

  test("is refused when the skill requires one of their tools", async () => {
    const world = createPdf('required-tools: ["pdf:extract", key, Bash]');
    const { run } = await openRuns(world, [says("Done.")]);
    expect((await run({ skill: "pdf" })).result.status).toBe("completed");
    world.write({ "home/.metier/skills/pdf/toolsets/index.ts": "throw new Error('not today');" });
    const { result } = await run({ skill: "pdf" });
    expect(result).toMatchObject({
      status: "refused",
      refusal: {
        reason: "tools",
        message: expect.stringContaining("'pdf:extract', 'key'"),
        hint: expect.stringContaining("not today"),
      },
    });
  });

  test("shows no secret that its process printed", async () => {
    const world = createPdf(
      "env: [PDF_KEY]",
      "console.error(process.env.PDF_KEY); throw new Error(process.env.PDF_KEY); ",
    );
    world.write({ "home/.metier/config.toml": '[skills.pdf]\nPDF_KEY = "the-long-secret-key"\n' });
    const { run } = await openRuns(world, [says("Done.")]);
    const { result } = await run({ skill: "pdf" });
    expect(result.diagnostics).toMatchObject([{ code: "toolset.not-loaded" }]);
    expect(JSON.stringify(result)).not.toContain("the-long-secret-key");
  });
});

describe("toolsets that are not loaded", () => {
  test("of an untrusted skill are reported", async () => {
    const world = createRunWorld({});
    world.write({
      "other/pdf/SKILL.md": skill("pdf", 'toolsets: ["toolsets/index:Pages"]'),
      "other/pdf/toolsets/index.ts": TOOLS,
    });
    const { run } = await openRuns(world, [says("Done.")], { paths: [`${world.root}/other`] });
    const { result, events } = await run({ skill: "pdf", approve: "all" });
    expect(result.trust).toBe("untrusted");
    expect(result.diagnostics).toContainEqual(
      expect.objectContaining({ code: "invoke.withheld", message: expect.stringContaining("`toolsets`") }),
    );
    expect(eventsOf(events, "run-started")[0]?.tools.some((name) => name.startsWith("pdf__"))).toBe(false);
    expect(result.files).toEqual([]);
  });

  test("of a plan are named, and nothing is started or guessed about their tools", async () => {
    const { metier } = await openRuns(createPdf('allowed-tools: [extract, "pdf:key"]'), []);
    const planned = await metier.plan({ skill: "pdf" });
    if (!planned.ok) throw new Error("The plan was refused.");
    expect(planned.outline.toolsets).toEqual(["toolsets/index:Pages"]);
    expect(planned.outline.tools.some((name) => name.startsWith("pdf__"))).toBe(false);
    expect(planned.outline.diagnostics.filter(({ code }) => code === "tools.unknown")).toEqual([]);
  });
});

describeSandbox("the toolset process", () => {
  test("has the declared variables, and no secret any more once an untrusted text is in the conversation", async () => {
    const world = createPdf('env: [PDF_KEY]\nallowed-tools: ["pdf:key", Skill]');
    world.write({
      "home/.metier/config.toml":
        '[tools]\n"pdf:key" = "allow"\n[skills.pdf]\nPDF_KEY = "the-long-secret-key"\n',
      "other/theirs/SKILL.md": skill("theirs", "context: inline", "Read this."),
    });
    const { run } = await openRuns(
      world,
      [
        calls("pdf__key", {}),
        useSkill("theirs", "Do it.", { toolResult: { matches: "^(?!no key)" } }),
        calls("pdf__key", {}, { toolResult: "Read this." }),
        says("Done.", { toolResult: "no key" }),
      ],
      { paths: [`${world.root}/other`] },
    );
    const { result, events } = await run({ skill: "pdf" });
    expect(result.status).toBe("completed");
    expect(JSON.stringify(events)).not.toContain("the-long-secret-key");
  });

  test("ends with the run and with all that it started, also when a call is cancelled in the middle", async () => {
    const mark = String(randomInt(100_000, 900_000));
    const { metier } = await openRuns(createPdf("allowed-tools: [wait]"), [calls("pdf__wait", { mark })]);
    const cancel = new AbortController();
    const finished = metier.run({ skill: "pdf", signal: cancel.signal });
    await until("the tool has started a process", () => sleepersOf(mark) > 0);
    cancel.abort();
    expect((await finished).status).toBe("cancelled");
    expect(sleepersOf(mark)).toBe(0);
  });

  test("reaches granted domains as the run's commands do", async () => {
    const world = createPdf(
      "allowed-tools: [proxy]",
      TOOLS.replace(
        "key: {",
        `proxy: { description: "Tells the proxy.",
      input: { type: "object" }, run: () => process.env.HTTPS_PROXY ?? "no proxy" },\n    key: {`,
      ),
    );
    world.write({ "home/.metier/config.toml": '[sandbox]\nnetwork = ["example.com"]\n' });
    const { run } = await openRuns(world, [
      calls("pdf__proxy", {}),
      says("Done.", { toolResult: { matches: "^http://" } }),
    ]);
    expect((await run({ skill: "pdf" })).result.status).toBe("completed");
  });

  test("loads code that is changed while the run goes on", async () => {
    const world = createPdf("allowed-tools: [extract]");
    const file = join(world.home, ".metier/skills/pdf/toolsets/index.ts");
    const { run } = await openRuns(world, [
      EXTRACT,
      calls("pdf__extract", { page: 4 }, { toolResult: "page 3" }),
      says("Done.", { toolResult: "sheet 4" }),
    ]);
    const { result } = await run({
      skill: "pdf",
      onEvent(event) {
        if (event.type === "tool-finished") writeFileSync(file, TOOLS.replace('"page "', '"sheet "'));
      },
    });
    expect(result.status).toBe("completed");
  });

  test("loads no changed code of a skill that was trusted for its content", async () => {
    const world = createRunWorld({});
    const folder = `${world.root}/other`;
    const file = `${folder}/pdf/toolsets/index.ts`;
    world.write({
      "other/pdf/SKILL.md": skill("pdf", 'toolsets: ["toolsets/index:Pages"]\nallowed-tools: [extract]'),
      "other/pdf/toolsets/index.ts": TOOLS,
    });
    expect((await world.cli("trust", "pdf", "--path", folder)).code).toBe(0);
    const { run } = await openRuns(
      world,
      [
        EXTRACT,
        calls("pdf__extract", { page: 4 }, { toolResult: "page 3" }),
        says("Done.", { toolResult: "in its current form is not trusted" }),
      ],
      { paths: [folder] },
    );
    const { result } = await run({
      skill: "pdf",
      onEvent(event) {
        if (event.type === "tool-finished") writeFileSync(file, TOOLS.replace('"page "', '"sheet "'));
      },
    });
    expect(result).toMatchObject({ status: "completed", trust: "trusted" });
  });
});
