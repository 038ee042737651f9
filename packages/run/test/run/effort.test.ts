import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { createWorld } from "../../../../test/support/world.ts";
import { createScriptModel } from "../../src/model/scripted-model.ts";

/** What a model is asked with, for a skill with this frontmatter. */
async function askedWith(frontmatter: string): Promise<LanguageModelV4CallOptions | undefined> {
  const world = createWorld();
  world.write({
    "home/.metier/skills/thinker/SKILL.md": `---\nname: thinker\ndescription: Think.\n${frontmatter}\n---\n\nThink.\n`,
  });
  let asked: LanguageModelV4CallOptions | undefined;
  const scripted = createScriptModel([{ answer: { text: "Done." } }]);
  const model: LanguageModelV4 = {
    ...scripted,
    doStream: (options) => {
      asked = options;
      return scripted.doStream(options);
    },
  };
  const metier = await world.metier({ models: { default: model } });
  const limits = { maxTokens: 500 };
  expect((await metier.run({ skill: "thinker", limits })).status).toBe("completed");
  return asked;
}

test("a skill's `effort` is how much its model thinks", async () => {
  expect((await askedWith("effort: High"))?.reasoning).toBe("high");
  expect((await askedWith("effort: enormous"))?.reasoning).toBeUndefined();
});

test("one answer may not have more tokens than the whole run", async () => {
  expect((await askedWith("version: '1'"))?.maxOutputTokens).toBe(500);
});
