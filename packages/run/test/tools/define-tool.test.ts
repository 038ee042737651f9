/** Typed tools: schemas of every library, their types, and what is refused at once. */
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { toolContext } from "../../../../test/support/tool-context.ts";
import { acceptTool, type DefinedTool, defineTool, type GivenTool } from "../../src/tools/define-tool.ts";
import { withJsonSchema } from "../../src/tools/given-schema.ts";
import type { ToolInput } from "../../src/tools/tool.ts";

const WORDS = { name: "weather", description: "Tells the weather.", effect: "read" } as const;
const SHOWN = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("[L5] defineTool takes a schema", () => {
  test("of zod, whose defaults, transforms and refinements hold", async () => {
    const tool = defineTool({
      ...WORDS,
      input: z.object({
        city: z.string().min(2),
        mail: z.email().optional(), // Its pattern looks ahead, which the engine for foreign schemas cannot.
        day: z.iso.date().transform((day) => new Date(day)),
        units: z.enum(["c", "f"]).default("c"),
      }),
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<{
          city: string;
          mail?: string | undefined;
          day: Date;
          units: "c" | "f";
        }>();
        return input.day.getUTCFullYear();
      },
    });
    expect(tool.inputSchema).toMatchObject({ type: "object", required: ["city", "day"] });
    expect(tool.inputSchema).not.toHaveProperty("$schema");
    const read = await tool.readInput({ city: "Bern", day: "2026-11-16", mail: "a@b.example" });
    expect(read).toMatchObject({
      ok: true,
      value: { city: "Bern", units: "c", day: new Date("2026-11-16") },
    });
    const wrong = await tool.readInput({ city: "B", day: "today", units: "k" });
    expect(wrong).toMatchObject({ ok: false, refusal: expect.stringMatching(/city: .+; day: .+; units: /) });
    expectTypeOf(tool).toExtend<GivenTool>();
    expectTypeOf(tool.execute).returns.toBeNumber();
    const accepted: readonly GivenTool[] = [tool];
    expect(accepted).toHaveLength(1);
  });

  test("of arktype", async () => {
    const tool = defineTool({
      ...WORDS,
      input: type({ city: "string > 1", "days?": "number.integer" }),
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<{ city: string; days?: number }>();
      },
    });
    expect(tool.inputSchema).toMatchObject({ type: "object", required: ["city"] });
    expect(await tool.readInput({ city: "Bern", days: 2 })).toMatchObject({ ok: true });
    expect(await tool.readInput({ city: "" })).toMatchObject({
      ok: false,
      refusal: "city must be at least length 2",
    });
  });

  test("of valibot, with a JSON Schema from its own package", async () => {
    const schema = v.object({
      city: v.pipe(
        v.string(),
        v.transform((city) => city.length),
      ),
    });
    for (const input of [
      toStandardJsonSchema(schema),
      withJsonSchema(schema, toJsonSchema(schema, { typeMode: "input" })),
    ]) {
      const tool = defineTool({
        ...WORDS,
        input,
        execute(given) {
          expectTypeOf(given).toEqualTypeOf<{ city: number }>();
        },
      });
      expect(tool.inputSchema).toEqual(SHOWN);
      expect(await tool.readInput({ city: "Bern" })).toMatchObject({ ok: true, value: { city: 4 } });
      expect(await tool.readInput({})).toMatchObject({ ok: false });
    }
    expect(() => defineTool({ ...WORDS, input: schema, execute: () => 1 })).toThrow(
      expect.objectContaining({
        code: "usage.invalid",
        message:
          "`input` of the tool `weather` is a schema from `valibot` that does not provide its JSON Schema.",
        hint: "Wrap it with `toStandardJsonSchema(schema)` from `@valibot/to-json-schema`.",
      }),
    );
  });

  test("of JSON, typed as far as its plain keywords say it", async () => {
    const tool = defineTool({
      ...WORDS,
      input: {
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer", default: 3 },
          note: { type: "string" },
        },
        required: ["city"],
        additionalProperties: false,
      },
      execute(input) {
        expectTypeOf(input.city).toBeString();
        expectTypeOf(input.days).toBeNumber();
        expectTypeOf(input.note).toEqualTypeOf<string | undefined>();
      },
    });
    expect(await tool.readInput({ city: "Bern" })).toMatchObject({
      ok: true,
      value: { city: "Bern", days: 3 },
    });
    expect(await tool.readInput({ citty: "Bern" })).toMatchObject({ ok: false });
  });
});

describe("[L5] what cannot be a tool", () => {
  const input = z.object({ city: z.string() });
  const execute = (): string => "sun";
  const refuses = (definition: object, message: string | RegExp, hint?: string): void => {
    const define = (): unknown => defineTool(definition as Parameters<typeof defineTool>[0]);
    expect(define).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message), ...(hint && { hint }) }),
    );
  };

  test("is refused at once, with a near name", () => {
    refuses(
      { ...WORDS, inputs: input, execute },
      /`defineTool` has no option `inputs`/,
      "Did you mean `input`?",
    );
    refuses({ ...WORDS, effect: "extern", input, execute }, /is `extern`/, "Did you mean `external`?");
    refuses({ ...WORDS, effect: undefined, input, execute }, /`effect` of the tool `weather`/);
    refuses({ ...WORDS, name: "getWeather", input, execute }, /not a valid tool name/);
    refuses({ ...WORDS, name: "bash", input, execute }, /one of Metier's own/);
    refuses({ ...WORDS, description: " ", input, execute }, /has no `description`/);
    refuses({ ...WORDS, input }, /no `execute` function/);
    refuses({ ...WORDS, input: "city", execute }, /is `city`, not a schema/);
    refuses({ ...WORDS, execute }, /not a schema/);
    refuses(
      { ...WORDS, input: { city: z.string() }, execute },
      /is an object of schemas/,
      "Combine them into one schema, such as `z.object({ … })`.",
    );
    refuses({ ...WORDS, input: z.string(), execute }, /does not describe an object/);
    refuses(
      { ...WORDS, input: z.object({ at: z.date() }), execute },
      /cannot be converted to JSON Schema for a model/,
    );
    expect(() => defineTool(undefined as never)).toThrow("takes one object");
  });

  test("does not compile", () => {
    // @ts-expect-error: no such effect
    expect(() => defineTool({ ...WORDS, effect: "delete", input, execute })).toThrow();
    // @ts-expect-error: `execute` wants what the schema does not give
    defineTool({ ...WORDS, input, execute: (given: { town: string }) => given.town });
    // @ts-expect-error: a shape is no schema
    expect(() => defineTool({ ...WORDS, input: { city: z.string() }, execute })).toThrow();
    // @ts-expect-error: a key that no tool has
    expect(() => defineTool({ ...WORDS, input, execute, strict: true })).toThrow();
  });
});

test("a plain object is a tool, typed as such, and may return anything", async () => {
  const tools: readonly GivenTool[] = [
    {
      name: "plain",
      description: "A plain one.",
      inputSchema: { type: "object" },
      effect: "read",
      execute(input, { caller }) {
        expectTypeOf(input).toEqualTypeOf<ToolInput>();
        return { said: input.word ?? null, to: caller.userId };
      },
    },
  ];
  const [tool] = tools;
  if (tool === undefined) throw new Error("There is one.");
  const context = toolContext({ caller: { userId: "ada" } });
  expect(await acceptTool(tool).execute({ word: "hi" }, context)).toEqual({
    text: '{"said":"hi","to":"ada"}',
    isError: false,
  });
});

test("a defined tool can be called by a test", async () => {
  const tool = defineTool({
    ...WORDS,
    input: z.object({ city: z.string() }),
    execute: async ({ city }, { caller }) => `${city} for ${caller.userId}`,
  });
  expectTypeOf(tool).toEqualTypeOf<DefinedTool<{ city: string }, Promise<string>>>();
  const context = toolContext({ caller: { userId: "ada" } });
  expect(await tool.execute({ city: "Bern" }, context)).toBe("Bern for ada");
});
