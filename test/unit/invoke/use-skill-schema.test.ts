import { checkJson, type Json } from "@metier/base/json";
import { useSkillSchema } from "@metier/run";
import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { invocationWorld, own } from "./invocation-world.ts";

async function schemaOver(files: Readonly<Record<string, string>>, config = "") {
  const { state } = await invocationWorld({ files, config, options: { paths: [] } });
  return useSkillSchema(state.catalog.all);
}

describe("`use_skill`", () => {
  verifies([120, "case 94"], "is there only when there is a skill for a model", async () => {
    expect(await schemaOver({})).toBeUndefined();
    expect(await schemaOver(own("quiet", "disable-model-invocation: true"))).toBeUndefined();
    expect(await schemaOver(own("off"), '[skills]\ndisabled = ["off"]\n')).toBeUndefined();
  });

  verifies(
    "case 94",
    "names the usable skills in order, those that users may not invoke included",
    async () => {
      const schema = await schemaOver({
        ...own("beta", "user-invocable: false"),
        ...own("alpha"),
        ...own("quiet", "disable-model-invocation: true"),
      });
      expect(schema?.description).toContain("Skills: alpha, beta.");
      expect(schema?.inputSchema).toMatchObject({ properties: { skill: { enum: ["alpha", "beta"] } } });
    },
  );

  verifies(
    [121, 122],
    "takes a message, a context, arguments and an input; only the skill is needed",
    async () => {
      const { inputSchema = {} } = (await schemaOver(own("alpha"))) ?? {};
      const fits = async (value: Json): Promise<boolean> => (await checkJson(inputSchema, value)).ok;
      expect(await fits({ skill: "alpha" })).toBe(true);
      expect(
        await fits({ skill: "alpha", message: "m", context: "c", arguments: "a b", input: { x: 1 } }),
      ).toBe(true);
      expect(await fits({ message: "m" })).toBe(false);
      expect(await fits({ skill: "gamma" })).toBe(false);
      expect(await fits({ skill: "alpha", input: "text" })).toBe(false);
    },
  );

  test("leaves names to `find_skills` when there are very many", async () => {
    const files = Array.from({ length: 201 }, (_, index) => own(`s${index}`));
    const schema = await schemaOver(Object.assign({}, ...files));
    expect(schema?.description).toContain("find_skills");
    expect(schema?.inputSchema).toMatchObject({ properties: { skill: { type: "string" } } });
    expect(JSON.stringify(schema)).not.toContain("enum");
  });
});
