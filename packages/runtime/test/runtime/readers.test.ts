/** Messages for whoever reads them, and lists of what can be done. */
import { join } from "node:path";
import { onCommandLine } from "@metier/base/text";
import { describe, expect, test } from "vitest";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";

function shelf(): World {
  const world = createWorld();
  world.write({
    "project/.metier/skills/note/SKILL.md": skill("note"),
    "project/.metier/skills/deep/SKILL.md": skill("deep", "context: fork"),
    "project/.metier/skills/bounded/SKILL.md": skill("bounded", "max-iterations: 3"),
    "custom/wild/SKILL.md": skill("wild", "context: fork"),
  });
  return world;
}

describe("where skills cannot be run [L8]", () => {
  test("those that need a run are not listed, found, read or named", async () => {
    const metier = await shelf().metier();
    const offer = await metier.offerSkills({ canRun: false });
    expect(offer.instructions).toContain("note");
    expect(offer.instructions).not.toMatch(/deep|bounded/);
    for (const [tool, input] of [
      ["list_skills", {}],
      ["find_skills", { query: "deep bounded" }],
    ] as const) {
      if (offer.tools.some(({ name }) => name === tool)) {
        expect((await offer.call(tool, input)).text).not.toMatch(/"deep"|"bounded"/);
      }
    }
    expect(JSON.stringify(offer.tools.map(({ inputSchema }) => inputSchema))).not.toContain('"deep"');
    expect((await offer.call("use_skill", { skill: "deep", message: "x" })).text).not.toContain("metier run");
    expect((await offer.call("use_skill", { skill: "note" })).isError).not.toBe(true);
    expect((await metier.offerSkills()).instructions).toContain("deep");
    expect(metier.useSkillTool({ canRun: false })?.description).not.toContain("deep");
  });

  test("a program that asks all the same is told what it can do", async () => {
    const metier = await shelf().metier();
    const outcome = await metier.activate({ skill: "deep" }, { canRun: false });
    expect(outcome).toMatchObject({
      kind: "refused",
      refusal: { reason: "needs-run", hint: expect.stringContaining('run({ skill: "deep" })') },
    });
    const asModel = { skill: "deep", source: "model", message: "Do it." } as const;
    const model = await metier.activate(asModel, { canRun: false });
    expect(model).toMatchObject({ refusal: { hint: "Use another skill, or do the task without one." } });
  });
});

describe("messages [L9]", () => {
  test("name options in a program, and commands on the command line", async () => {
    const world = shelf();
    const paths = [join(world.root, "custom"), join(world.root, "nowhere")];
    const texts = async (): Promise<string> => {
      const metier = await world.metier({ paths });
      const refused = await metier.run({ skill: "wild" });
      const missing = await metier.run({ skill: "zzzzzz" });
      return JSON.stringify([
        metier.require("wild").trust,
        metier.diagnostics(),
        refused.refusal,
        missing.refusal,
      ]);
    };
    const program = await texts();
    expect(program).not.toMatch(/`metier |`--/);
    expect(program).toContain("`trustedPaths`");
    expect(program).toContain("`paths`");
    const command = await onCommandLine(texts);
    expect(command).toContain("`metier trust wild --path ");
    expect(command).toContain("`--path`");
  });

  test("without a model, a program is told how to give one", async () => {
    const metier = await shelf().metier();
    const { error } = await metier.run({ skill: "note" });
    expect(JSON.stringify(error)).not.toContain("metier init");
  });
});
