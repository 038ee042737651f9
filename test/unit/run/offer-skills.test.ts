import { join } from "node:path";
import { SkillInvocationError, SkillNotFoundError } from "@metier/base/errors";
import type { SkillOffer } from "@metier/run";
import type { Script } from "@metier/run/model";
import { createScriptedModel, type Metier, type MetierOptions } from "@metier/runtime";
import { createConversation } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { createWorld, skill, type World } from "../../support/world.ts";

function userSkills(skills: Readonly<Record<string, readonly [more: string, body: string]>>): World {
  const world = createWorld();
  for (const [name, [more, body]] of Object.entries(skills)) {
    world.write({ [`home/.metier/skills/${name}/SKILL.md`]: skill(name, more, body) });
  }
  return world;
}

function open(world: World, script: Script = [], options: MetierOptions = {}): Promise<Metier> {
  return world.metier({ models: { default: createScriptedModel(script) }, ...options });
}

function namesOf({ tools }: SkillOffer): readonly string[] {
  return tools.map(({ name }) => name);
}

describe("an offer", () => {
  verifies([117, 118], "has text and tools; without skills it has neither", async () => {
    const offer = await (await open(userSkills({ style: ["", "Be brief."] }))).offerSkills();
    expect(offer.instructions).toContain("The style skill.");
    expect(offer.instructions).not.toContain("Be brief.");
    expect(namesOf(offer)).toEqual(["use_skill", "list_skills", "read_skill_file"]);
    const none = await (await open(createWorld())).offerSkills();
    expect(none).toMatchObject({ instructions: "", tools: [] });
    expect(await none.call("use_skill", { skill: "style" })).toEqual({
      isError: true,
      text: "There is no tool `use_skill`. There are none, because no skill can be used.",
    });
  });

  test("brings `find_skills` where the listing cannot tell of all skills", async () => {
    const skills = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`skill-${index}`, ["", "Do."] as const]),
    );
    const offer = await (await open(userSkills(skills))).offerSkills({ listingTokens: 200 });
    expect(namesOf(offer)).toContain("find_skills");
    expect(offer.report.tokens).toBeLessThanOrEqual(200);
    expect((await offer.call("find_skills", { query: "skill 7" })).text).toContain("skill-7");
  });

  verifies([117, 118], "gives instructions once, and answers what is wrong with a call", async () => {
    const offer = await (await open(userSkills({ style: ["", "Be brief."] }))).offerSkills();
    expect((await offer.call("use_skill", { skill: "style" })).text).toContain("Be brief.");
    expect((await offer.call("use_skill", { skill: "style" })).text).toContain('repeated="true"');
    expect(offer.conversation.activations.map(({ name }) => name)).toEqual(["style"]);
    for (const [tool, input, message] of [
      ["use_skill", {}, /Invalid input for `use_skill`/],
      ["read_skill_file", { skill: "style", path: 7 }, /Invalid input for `read_skill_file`/],
      ["list_skills", { page: 1 }, /Invalid input for `list_skills`/],
      ["use_skill", "style", /Invalid input/],
      ["no_tool", {}, /There is no tool `no_tool`\. There are `use_skill`/],
    ] as const) {
      expect(await offer.call(tool, input)).toEqual({ isError: true, text: expect.stringMatching(message) });
    }
  });

  test("runs a skill that needs it, unless the host wants text alone", async () => {
    const world = userSkills({ count: ["max-iterations: 2", "Count."] });
    const metier = await open(world, [{ answer: { text: "Three." } }]);
    const input = { skill: "count", message: "How many?" };
    const ran = await (await metier.offerSkills()).call("use_skill", input);
    expect(ran).toMatchObject({ isError: false, text: expect.stringContaining("Three.") });
    // Without runs there is no such skill, so here there is none at all.
    const textOnly = await metier.offerSkills({ canRun: false });
    expect([textOnly.instructions, textOnly.tools]).toEqual(["", []]);
    expect(await textOnly.call("use_skill", input)).toMatchObject({ isError: true });
  });

  test("tells a caller of the skills it may use, by every tool, and of no others", async () => {
    const metier = await open(
      userSkills({ open: ["", "Open."], ours: ["access:\n  chat-types: [private]", "Ours."] }),
    );
    const stranger = await metier.offerSkills();
    const friend = await metier.offerSkills({ caller: { chatType: "private" } });
    expect(stranger.instructions).not.toContain("The ours skill.");
    expect(friend.instructions).toContain("The ours skill.");
    for (const [tool, input] of [
      ["use_skill", { skill: "ours" }],
      ["read_skill_file", { skill: "ours", path: "SKILL.md" }],
    ] as const) {
      expect(await stranger.call(tool, input)).toMatchObject({ isError: true });
      expect(await friend.call(tool, input)).toMatchObject({ isError: false });
    }
    expect((await stranger.call("list_skills", {})).text).not.toContain("ours");
    expect((await friend.call("list_skills", {})).text).toContain("ours");
  });

  verifies(
    [179, 185],
    "trusts nothing in a conversation that has read a file of an untrusted skill",
    async () => {
      const world = userSkills({ keyed: ["env: [A_KEY]", "Use it."] });
      world.write({
        "home/.metier/config.toml": '[skills.keyed]\nA_KEY = "not-a-real-key"\n',
        "wild/note/SKILL.md": skill("note", "", "Remember this."),
        "wild/note/references/more.md": "More.\n",
      });
      const metier = await open(world, [], { paths: [join(world.root, "wild")] });
      const offer = await metier.offerSkills();
      const read = await offer.call("read_skill_file", { skill: "note", path: "references/more.md" });
      expect(read.text).toBe("More.\n");
      const refused = await offer.call("use_skill", { skill: "keyed", message: "Go." });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("`note`") });
    },
  );
});

describe("preloaded skills", () => {
  const SKILLS = {
    style: ["disable-model-invocation: true", "Be brief."],
    fork: ["context: fork", "Go."],
  } as const;

  verifies(
    117,
    "stand in the instructions from the beginning, also where a conversation goes on",
    async () => {
      const metier = await open(userSkills(SKILLS));
      const offer = await metier.offerSkills({ preload: ["style", "style"] });
      expect(offer.instructions.match(/Be brief\./g)).toHaveLength(1);
      expect(offer.instructions).toContain('<skill_content name="style"');
      const conversation = createConversation(offer.conversation.activations);
      const later = await metier.offerSkills({ preload: ["style"], conversation });
      expect(later.instructions).toContain("Be brief.");
      expect(later.lost([later.instructions])).toBe("");
    },
  );

  test("must be there, and must be text", async () => {
    const metier = await open(userSkills(SKILLS));
    await expect(metier.offerSkills({ preload: ["missing"] })).rejects.toThrow(SkillNotFoundError);
    await expect(metier.offerSkills({ preload: ["fork"] })).rejects.toThrow(SkillInvocationError);
  });
});

describe("a host that cuts its messages", () => {
  test("gets back the instructions that are gone, and those alone", async () => {
    const world = userSkills({ style: ["", "Be brief."], tone: ["", "Be kind."] });
    const metier = await open(world);
    const offer = await metier.offerSkills();
    const style = await offer.call("use_skill", { skill: "style" });
    const tone = await offer.call("use_skill", { skill: "tone" });
    expect(offer.lost([`before ${style.text}`, tone.text])).toBe("");
    expect(offer.lost([tone.text, "a summary"])).toBe(style.text);
    expect(offer.lost([])).toBe(`${style.text}\n\n${tone.text}`);
    // What was given in another process is not known here: the model can ask for it again.
    const later = await metier.offerSkills({
      conversation: createConversation(offer.conversation.activations),
    });
    expect(later.lost([tone.text])).toBe("");
    expect((await later.call("use_skill", { skill: "tone" })).text).toContain('repeated="true"');
    expect((await later.call("use_skill", { skill: "style" })).text).toBe(style.text);
  });

  test("learns which of its tools a skill disallows", async () => {
    const world = userSkills({
      careful: ["disallowed-tools: [Bash, send_mail]\nallowed-tools: [Read]", "Only look."],
    });
    const metier = await open(world);
    const offer = await metier.offerSkills();
    const tools = ["bash", "send_mail", "weather", "use_skill"] as const;
    expect(offer.narrow(tools, ["careful"])).toEqual(tools);
    await offer.call("use_skill", { skill: "careful" });
    expect(offer.narrow(tools, ["careful"])).toEqual(["weather", "use_skill"]);
    expect(offer.narrow(tools, [])).toEqual(tools);
    const later = await metier.offerSkills({ conversation: offer.conversation });
    expect((await later.call("use_skill", { skill: "careful" })).text).toContain('repeated="true"');
    expect(later.narrow(tools, ["careful"])).toEqual(["weather", "use_skill"]);
    const preloaded = await metier.offerSkills({ preload: ["careful"] });
    expect(preloaded.narrow(tools, [])).toEqual(["weather", "use_skill"]);
  });
});
