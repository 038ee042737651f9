/** The first system's checklist: what is listed, what a skill's run may use, which model it gets, who may not be used. */
import { join } from "node:path";
import { createScriptedModel, type MetierOptions, type Script } from "metier";
import { describe, expect } from "vitest";
import { calls, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const ASH = { preset: "ash" } as const;

function openWorkspace(skills: Readonly<Record<string, readonly [more?: string, body?: string]>>): World {
  const world = createWorld();
  for (const [name, [more, body]] of Object.entries(skills)) {
    world.write({ [`project/workspace/skills/${name}/SKILL.md`]: skill(name, more, body) });
  }
  return world;
}

describe("the first system's checklist", () => {
  verifies(
    [111, 208],
    "skills are listed by name and description, those that cannot be used left out",
    async () => {
      const world = openWorkspace({
        research: ["", "A word of the body."],
        review: [],
        lacking: ["requires:\n  bins: [zz-none]"],
      });
      world.write({
        "home/.ash/config.toml": "[skills]\nbundled = false\n[skills.review]\nenabled = false\n",
      });
      const metier = await world.metier(ASH);
      const listing = metier.renderListing({ format: "markdown", location: "none" });
      expect(listing).toContain("**research**: The research skill.");
      expect(listing).toContain("use_skill");
      expect(listing).not.toMatch(/review|lacking|A word of the body/);
      const listed = await world.cli("list", "--preset", "ash", "--json");
      const states = listed.json.skills.map(({ name, status }: Record<string, string>) => [name, status]);
      expect(states).toEqual([
        ["lacking", "unavailable"],
        ["research", "enabled"],
        ["review", "disabled"],
      ]);
      const file = join(world.project, "workspace/skills/research");
      expect((await world.cli("skill", "validate", file)).code).toBe(0);
      expect((await world.cli("skill", "list", "--preset", "ash")).stdout).toContain("research");
    },
  );

  verifies(
    [91, 139, 144, 153, 208, "case 71", "case 78"],
    "a skill runs apart with its own tools; others are answered with an error",
    async () => {
      const world = openWorkspace({
        narrow: ["allowed_tools: [read_file, grep_search]", "Only read."],
        wide: ["allowed_tools: []", "Use anything."],
        off: [],
      });
      world.write({
        "project/notes.txt": "the notes",
        "home/.ash/config.toml": "[skills.off]\nenabled = false\n",
      });
      const { metier, run } = await openRuns(
        world,
        [
          calls("list_files", {}, { tools: ["read_file", "grep_search"], system: "Only read." }),
          calls("read_file", { path: "notes.txt" }, { toolResult: { matches: "list_files.*read_file" } }),
          says("Read.", { toolResult: "the notes" }),
          calls("list_files", {}),
          says("Listed.", { toolResult: "notes.txt" }),
        ],
        ASH,
      );
      const narrow = await run({ skill: "narrow" });
      expect(narrow.result).toMatchObject({ status: "completed", text: "Read.", iterations: 3 });
      expect(narrow.result.denied).toMatchObject([{ tool: "list_files" }]);
      expect(eventsOf(narrow.events, "run-started")).toMatchObject([{ tools: ["read_file", "grep_search"] }]);
      expect((await run({ skill: "wide" })).result).toMatchObject({ status: "completed", denied: [] });
      const tool = metier.useSkillTool();
      expect(await tool?.execute({ skill: "off", message: "Go." })).toMatchObject({ isError: true });
      expect((await run({ skill: "off" })).result).toMatchObject({
        status: "refused",
        refusal: { reason: "disabled" },
      });
    },
  );

  verifies([158, 208, "case 75"], "a skill names its model, and the config has the last word", async () => {
    const world = openWorkspace({ plain: [], quick: ["model: small"], moved: ["model: small"] });
    world.write({ "home/.ash/config.toml": '[skills.moved]\nmodel = "large"\n' });
    const named = (name: string) => createScriptedModel([says(`By ${name}.`)], name);
    const models = { default: named("default"), small: named("small"), large: named("large") };
    const metier = await world.metier({ ...ASH, models });
    expect((await metier.run({ skill: "plain" })).text).toBe("By default.");
    expect((await metier.run({ skill: "quick" })).text).toBe("By small.");
    expect((await metier.run({ skill: "moved" })).text).toBe("By large.");
  });

  verifies(
    [121, 123, 134, 141, 142, 145, 208, "case 82", "case 83"],
    "`use_skill` in a conversation hands over message and context, and gets the wrapped result back",
    async () => {
      const world = openWorkspace({ research: ["max_iterations: 2", "Research the topic."] });
      const inner: Script = [
        calls(
          "list_files",
          {},
          {
            system: { contains: ["Research the topic.", "An old app is upgraded."] },
            lastUserText: "What is new?",
          },
        ),
        says("Much is new."),
        calls("list_files", {}),
        calls("list_files", {}),
      ];
      const outer: Script = [
        calls("use_skill", {
          skill: "research",
          message: "What is new?",
          context: "An old app is upgraded.",
        }),
        calls(
          "use_skill",
          { skill: "research", message: "And then?" },
          {
            toolResult: { contains: ['the skill "research"', "<output>\nMuch is new.\n</output>"] },
          },
        ),
        says("Research says: much is new.", { toolResult: "stopped by a limit" }),
      ];
      const models: MetierOptions["models"] = {
        default: createScriptedModel(inner),
        main: createScriptedModel(outer),
      };
      const metier = await world.metier({ ...ASH, models });
      const finished: unknown[] = [];
      const chat = await metier.chat({
        model: "main",
        onEvent: (event) => {
          if (event.type === "run-finished") finished.push([event.status, event.iterations]);
        },
      });
      const turn = await chat.send("What is new in the language?");
      expect(turn).toMatchObject({ status: "completed", text: "Research says: much is new." });
      expect(finished).toEqual([
        ["completed", 2],
        ["limited", 2],
        ["completed", 3],
      ]);
    },
  );
});
