import type { Json, JsonSchema } from "@metier/base/json";
import { expect, test } from "vitest";
import {
  type Draft,
  type FormField,
  readInputSchema,
  startDraft,
} from "../../src/page/playground/input-form.ts";
import { draftOf, readDraft, writtenArguments } from "../../src/page/playground/read-draft.ts";
import { skillAnswer } from "../support/answers-skill.ts";

function kindsOf(schema: JsonSchema): unknown {
  return drawKinds(readInputSchema(schema));
}

function drawKinds(field: FormField): unknown {
  if (field.kind === "group")
    return Object.fromEntries(field.fields.map(({ name, field: inner }) => [name, drawKinds(inner)]));
  return field.kind === "list" ? [drawKinds(field.item)] : field.kind;
}

/** The value of an object with one required field of this schema, for what is written in it. */
function readOne(schema: Json, draft: Draft): Json | string | undefined {
  const form = readInputSchema({ type: "object", required: ["it"], properties: { it: schema } });
  const { value, faults } = readDraft(form, { it: draft });
  return faults[0]?.message ?? (value as { readonly it: Json }).it;
}

test("texts, numbers, choices, lists and objects become fields, anything else a field for JSON", () => {
  expect(kindsOf(skillAnswer.inputSchema ?? {})).toEqual({
    version: "text",
    audience: "choice",
    most: "number",
    isDraft: "boolean",
    labels: ["text"],
    range: { from: "text", to: "text" },
    extra: "json",
  });
  expect(kindsOf({ type: "string" })).toBe("text");
  expect(kindsOf({ type: ["integer", "null"] })).toBe("number");
  expect(kindsOf({ const: 3 })).toBe("choice");
});

test("a schema that says more than a form can is a field for JSON", () => {
  const beyond: readonly JsonSchema[] = [
    {},
    { type: ["string", "number"] },
    { $ref: "#/$defs/a" },
    { type: "string", anyOf: [{ minLength: 3 }] },
    { type: "object" },
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
    { type: "array", items: true },
    { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } },
    { enum: [] },
  ];
  expect(beyond.map(kindsOf)).toEqual(beyond.map(() => "json"));
});

test("a schema that is nested without end stops at a field for JSON", () => {
  let schema: JsonSchema = { type: "string" };
  for (let depth = 0; depth < 50; depth++) schema = { type: "object", properties: { a: schema } };
  expect(JSON.stringify(kindsOf(schema))).toBe('{"a":{"a":{"a":{"a":{"a":"json"}}}}}');
});

test("a form begins with the defaults of its schema", () => {
  const form = readInputSchema(skillAnswer.inputSchema ?? {});
  expect(startDraft(form)).toEqual({
    version: "",
    audience: "",
    most: "20",
    isDraft: "",
    labels: [],
    range: { from: "", to: "HEAD" },
    extra: "",
  });
  const given = {
    type: "object",
    properties: { a: { type: "array", items: { type: "number" }, default: [1, 2] } },
  };
  expect(startDraft(readInputSchema(given))).toEqual({ a: ["1", "2"] });
});

test("what is written becomes the value, and what is left empty is left out", () => {
  const form = readInputSchema(skillAnswer.inputSchema ?? {});
  const written = { ...(startDraft(form) as object), version: "1.3.0", audience: "1" } as Draft;
  expect(readDraft(form, written)).toEqual({
    value: { version: "1.3.0", audience: "developers", most: 20 },
    faults: [],
  });
  const more = { ...(written as object), labels: ["bug", "new"], isDraft: "false", extra: "[1]" } as Draft;
  expect(readDraft(form, more).value).toMatchObject({ labels: ["bug", "new"], isDraft: false, extra: [1] });
});

test("an optional object asks for its required fields once somebody writes in it", () => {
  const form = readInputSchema(skillAnswer.inputSchema ?? {});
  const written = {
    ...(startDraft(form) as object),
    version: "1",
    audience: "0",
    range: { from: "", to: "main" },
  } as Draft;
  expect(readDraft(form, written).faults).toEqual([
    { path: "range.from", message: "This is required.", isMissing: true },
  ]);
});

test("a fault names its field and what is allowed", () => {
  expect(readOne({ type: "integer" }, "1.5")).toBe("Not a whole number: 1.5");
  expect(readOne({ type: "number" }, "many")).toBe("Not a number: many");
  expect(readOne({ type: "number", minimum: 2 }, "1")).toBe("At least 2.");
  expect(readOne({ type: "number", maximum: 2 }, "3")).toBe("At most 2.");
  expect(readOne({ type: "string", minLength: 3 }, "ab")).toBe("At least 3 characters; it has 2.");
  expect(readOne({ type: "string", maxLength: 1 }, "ab")).toBe("At most 1 character; it has 2.");
  expect(readOne({ type: "array", items: { type: "string" }, minItems: 1 }, [])).toBe(
    "At least 1 item; it has 0.",
  );
  expect(readOne({}, "{")).toMatch(/^Not JSON: /);
  expect(readOne({ type: "string" }, "")).toBe("This is required.");
});

test("items of a list are named by their place", () => {
  const form = readInputSchema({
    type: "object",
    properties: { all: { type: "array", items: { type: "integer" } } },
  });
  expect(readDraft(form, { all: ["1", "x", ""] }).faults.map(({ path }) => path)).toEqual([
    "all[1]",
    "all[2]",
  ]);
});

test("choices keep the type of their values", () => {
  expect(readOne({ enum: [1, "1", null, { a: 2 }] }, "3")).toEqual({ a: 2 });
  expect(readOne({ enum: [1, "1"] }, "0")).toBe(1);
});

test("fields that are called like parts of every object hold only what is written", () => {
  const form = readInputSchema({
    type: "object",
    properties: JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}'),
  });
  const draft = { ...(startDraft(form) as object), ["__proto__"]: "x" } as Draft;
  expect(JSON.stringify(readDraft(form, draft).value)).toBe('{"__proto__":"x"}');
  expect(draftOf({}, "constructor")).toBe("");
});

test("arguments behind the last one that is written are left out, those before stay empty", () => {
  expect(writtenArguments(["", "b", "", ""])).toEqual(["", "b"]);
  expect(writtenArguments(["", " "])).toBeUndefined();
});
