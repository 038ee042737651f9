/** What authors write, as the compiler sees it: `npm run check` fails where a line marked as wrong is not wrong. */
import type { ToolsetContext } from "metier/toolset";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { defineToolset, type FromSchema, type ToolsetJson } from "../../src/sandbox/inside/define-toolset.ts";

verifies(138, "the input of a tool has the type that its schema describes", async () => {
  const toolset = defineToolset({
    name: "Pages",
    tools: {
      extract: {
        description: "Extracts a page.",
        input: {
          type: "object",
          properties: {
            path: { type: "string" },
            page: { type: "integer" },
            scale: { type: "number", default: 1 },
            format: { enum: ["text", "html"] },
            ranges: { type: "array", items: { type: "object", properties: { to: { type: "number" } } } },
          },
          required: ["path"],
        },
        run(input, { workDir }) {
          const path: string = input.path;
          const page: number | undefined = input.page;
          const scale: number = input.scale;
          const format: "text" | "html" | undefined = input.format;
          const to: number | undefined = input.ranges?.[0]?.to;
          // @ts-expect-error: a text is no number
          const wrong: number = input.path;
          // @ts-expect-error: the schema has no such property
          input.pages;
          // @ts-expect-error: what is not required may be absent
          const sum: number = input.page;
          return {
            path,
            page: page ?? 1,
            scale,
            format: format ?? "text",
            to: to ?? null,
            wrong,
            sum,
            workDir,
          };
        },
      },
      list: {
        description: "Lists files.",
        input: { type: "object" },
        run: (input) => {
          const json: ToolsetJson = input; // A schema that says no more is any JSON.
          return json;
        },
      },
      later: { description: "Does nothing.", input: { type: "object" }, run: async () => undefined },
    },
  });
  const context: ToolsetContext = {
    workDir: "/work",
    skillDir: "/skill",
    signal: new AbortController().signal,
  };
  expect(await toolset.tools.extract.run({ path: "a.pdf", scale: 2 }, context)).toEqual({
    path: "a.pdf",
    page: 1,
    scale: 2,
    format: "text",
    to: null,
    wrong: "a.pdf",
    sum: undefined,
    workDir: "/work",
  });
});

test("what cannot be a toolset is refused by the compiler", () => {
  const input = { type: "object" } as const;
  // @ts-expect-error: a tool needs a description
  defineToolset({ tools: { a: { input, run: () => 1 } } });
  // @ts-expect-error: a tool needs an input
  defineToolset({ tools: { a: { description: "x", run: () => 1 } } });
  // @ts-expect-error: a function is no JSON
  const wrong = defineToolset({ tools: { a: { description: "x", input, run: () => () => 1 } } });
  expect(Object.keys(wrong.tools)).toEqual(["a"]);
});

test("types follow from plain schemas", () => {
  const text: FromSchema<{ readonly type: "string" }> = "x";
  const fixed: FromSchema<{ readonly const: 5 }> = 5;
  const nothing: FromSchema<{ readonly type: "null" }> = null;
  const flags: FromSchema<{ readonly type: "array"; readonly items: { readonly type: "boolean" } }> = [true];
  const any: FromSchema<{ readonly anyOf: readonly [] }> = { a: [1, "2", null] };
  expect([text, fixed, nothing, flags, any]).toHaveLength(5);
});
