import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, type World } from "../../../../test/support/world.ts";
import { findAgent, type GivenAgent } from "../../src/agents/agent.ts";
import { type LoadedAgents, loadAgents } from "../../src/agents/load-agents.ts";
import { sourcesOf } from "./sources.ts";

function agentText(fields: string, body = "You review code."): string {
  return `---\n${fields}\n---\n\n${body}\n`;
}

async function load(world: World, ...given: readonly GivenAgent[]): Promise<LoadedAgents> {
  return loadAgents({ ...(await sourcesOf(world)), given });
}

function codes({ diagnostics }: LoadedAgents): readonly string[] {
  return diagnostics.map(({ severity, code }) => `${severity} ${code}`);
}

describe("an agent file", () => {
  verifies(147, "gives name, prompt, model, tools, skills and limit", async () => {
    const world = createWorld();
    world.write({
      "project/.claude/agents/reviewer.md": agentText(
        "name: code-reviewer\ndescription: Reviews code.\ntools: Read, Bash(git:*)\ndisallowedTools: Write\nmodel: fast\nskills: [style, safety]\nmaxTurns: 4",
      ),
    });
    const { agents, diagnostics } = await load(world);
    expect(diagnostics).toEqual([]);
    expect(agents.get("code-reviewer")).toEqual({
      name: "code-reviewer",
      description: "Reviews code.",
      systemPrompt: "You review code.",
      model: "fast",
      tools: ["Read", "Bash(git:*)"],
      disallowedTools: ["Write"],
      skills: ["style", "safety"],
      maxIterations: 4,
      scope: "project",
      location: join(world.project, ".claude/agents/reviewer.md"),
      trust: { level: "trusted", reason: `The embedding program vouches for \`${world.project}\`.` },
    });
  });

  test("has its file's name and all tools where it says nothing, and its caller's model for `inherit`", async () => {
    const world = createWorld();
    world.write({ "home/.metier/agents/planner.md": agentText("description: Plans.\nmodel: inherit") });
    const { agents } = await load(world);
    const { location: _, trust, ...planner } = agents.get("planner") ?? expect.fail("not loaded");
    expect(planner).toEqual({
      name: "planner",
      description: "Plans.",
      systemPrompt: "You review code.",
      disallowedTools: [],
      skills: [],
      scope: "user",
    });
    expect(trust.level).toBe("trusted");
  });

  test("that is broken is reported and keeps no other one away", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/agents/good.md": agentText("name: good"),
      "project/.metier/agents/empty.md": agentText("name: empty", ""),
      "project/.metier/agents/plain.md": "No frontmatter at all.\n",
      "project/.metier/agents/huge.md": agentText("name: huge", "x".repeat(300_000)),
      "project/.metier/agents/notes.txt": "not an agent",
      "project/.metier/agents/deeper/other.md": "material",
      "secret.md": agentText("name: secret"),
    });
    symlinkSync(join(world.root, "secret.md"), join(world.project, ".metier/agents/out.md"));
    symlinkSync(join(world.root, "nowhere.md"), join(world.project, ".metier/agents/gone.md"));
    const loaded = await load(world);
    expect([...loaded.agents.keys()]).toEqual(["good"]);
    expect(codes(loaded)).toEqual([
      "error definition.empty",
      "error link.dangling",
      "error file.too-large",
      "error link.escapes",
      "error frontmatter.missing",
    ]);
  });

  test("names what it does not act on, what nobody knows, and what it had to mend", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/agents/a.md": agentText(
        "name: My Agent\ncolor: red\ntool: Read\nmax-turns: nope",
        "Go.\u202E",
      ),
    });
    const loaded = await load(world);
    expect(loaded.agents.get("my-agent")).toMatchObject({ systemPrompt: "Go.", skills: [] });
    expect(codes(loaded).toSorted()).toEqual([
      "error field.wrong-type",
      "info field.not-honoured",
      "warning disclosure.text-removed",
      "warning field.unknown",
      "warning name.grammar",
    ]);
    expect(loaded.diagnostics.find(({ code }) => code === "field.unknown")?.hint).toContain("`tools`");
  });
});

describe("which agent counts", () => {
  test("the nearest folder of the project, then the user's, then the program's", async () => {
    const world = createWorld();
    const at = (where: string): string => agentText("name: a", where);
    const program: GivenAgent = { name: "a", systemPrompt: "program" };
    const prompts: string[] = [];
    for (const folder of ["home/.claude", "home/.metier", "project/.claude", "project/.metier"]) {
      world.write({ [`${folder}/agents/a.md`]: at(folder) });
      prompts.push((await load(world, program)).agents.get("a")?.systemPrompt ?? "");
    }
    expect(prompts).toEqual(["home/.claude", "home/.metier", "project/.claude", "project/.metier"]);
    const { diagnostics } = await load(world, program);
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(4).fill("definition.shadowed"));
  });

  test("two of one name in one folder are a conflict; the first file counts", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/agents/x.md": agentText("name: a", "x"),
      "project/.metier/agents/b.md": agentText("name: a", "b"),
    });
    const loaded = await load(world);
    expect(loaded.agents.get("a")?.systemPrompt).toBe("b");
    expect(codes(loaded)).toEqual(["warning definition.conflict"]);
  });

  test("an untrusted one never replaces a trusted one, and becomes trusted by a grant", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/agents/a.md": agentText("name: a", "mine"),
      "project/.metier/agents/a.md": agentText("name: a", "theirs"),
      "project/.metier/agents/b.md": agentText("name: b"),
    });
    const before = await loadAgents(await sourcesOf(world, "command-line"));
    expect(before.agents.get("a")?.systemPrompt).toBe("mine");
    expect(codes(before)).toEqual(["warning definition.untrusted-shadow"]);
    expect(findAgent(before.agents, "b")).toMatchObject({
      ok: false,
      refusal: { message: "The agent `b` is untrusted." },
    });
    expect((await world.cli("trust")).code).toBe(0);
    const after = await loadAgents(await sourcesOf(world, "command-line"));
    expect(after.agents.get("a")?.systemPrompt).toBe("theirs");
    expect(findAgent(after.agents, "b").ok).toBe(true);
  });

  test("a project's folder that is a link out of the project is not read", async () => {
    const world = createWorld();
    world.write({ "elsewhere/a.md": agentText("name: a") });
    mkdirSync(join(world.project, ".metier"));
    symlinkSync(join(world.root, "elsewhere"), join(world.project, ".metier/agents"));
    const loaded = await load(world);
    expect([loaded.agents.size, codes(loaded)]).toEqual([0, ["error link.escapes"]]);
  });

  test("a plain `agents` folder beside a plain `skills` folder means nothing", async () => {
    const world = createWorld();
    world.write({
      "project/agents/a.md": agentText("name: a"),
      "project/.metier/config.toml": '[skills]\nproject-dirs = ["skills"]\n',
    });
    expect((await load(world)).agents.size).toBe(0);
  });
});

describe("an agent of the embedding program", () => {
  test("is checked like a file and trusted", async () => {
    const world = createWorld();
    const { agents, diagnostics } = await load(world, {
      name: "helper",
      systemPrompt: "You help.",
      tools: ["Read"],
      skills: ["a"],
      maxIterations: 2,
    });
    expect(diagnostics).toEqual([]);
    expect(agents.get("helper")).toMatchObject({
      systemPrompt: "You help.",
      tools: ["Read"],
      skills: ["a"],
      maxIterations: 2,
      location: "",
      scope: "integration",
      trust: { level: "trusted" },
    });
  });

  test("that is none is reported", async () => {
    const broken: readonly unknown[] = [
      null,
      { name: "x" },
      { systemPrompt: "x" },
      { name: "y", systemPrompt: " " },
    ];
    const loaded = await load(createWorld(), ...(broken as readonly GivenAgent[]));
    expect(loaded.agents.size).toBe(0);
    expect(codes(loaded).toSorted()).toEqual([
      "error definition.empty",
      "error given.unusable",
      "error given.unusable",
      "error given.unusable",
    ]);
  });
});

describe("finding an agent by name", () => {
  verifies(["case 87", 147], "gives the named one; a miss says which there are", async () => {
    const { agents } = await load(
      createWorld(),
      { name: "code-reviewer", systemPrompt: "You review." },
      { name: "planner", systemPrompt: "You plan." },
    );
    expect(findAgent(agents, "planner")).toMatchObject({ ok: true, value: { systemPrompt: "You plan." } });
    expect(findAgent(agents, "Code Reviewer").ok).toBe(true);
    expect(findAgent(agents, "plannr")).toEqual({
      ok: false,
      refusal: {
        message: "There is no agent `plannr`.",
        hint: "Did you mean `planner`? Available: `code-reviewer`, `planner`.",
      },
    });
    expect(findAgent(new Map(), "planner")).toMatchObject({
      ok: false,
      refusal: { hint: expect.stringMatching(/no agents/) },
    });
  });
});
