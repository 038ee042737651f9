import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { checkJson, type Json, type JsonSchema } from "../src/json.ts";

async function messageOf(schema: JsonSchema, value: Json): Promise<string> {
  const outcome = await checkJson(schema, value);
  return outcome.ok ? "" : outcome.message;
}

const CITY: JsonSchema = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 2 },
    unit: { enum: ["celsius", "fahrenheit"], default: "celsius" },
    days: { type: "integer", minimum: 1 },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  },
  required: ["city"],
  additionalProperties: false,
};

describe("a value that fits", () => {
  verifies([25, 124], "is answered with its defaults put in, and is not changed itself", async () => {
    const value = { city: "Bonn" };
    expect(await checkJson(CITY, value)).toEqual({ ok: true, value: { city: "Bonn", unit: "celsius" } });
    expect(value).toEqual({ city: "Bonn" });
  });

  test("may be frozen", async () => {
    const outcome = await checkJson(CITY, Object.freeze({ city: "Bonn", tags: Object.freeze(["a"]) }));
    expect(outcome.ok).toBe(true);
  });

  test("is copied whole, and a key that names a prototype stays a key", async () => {
    const schema: JsonSchema = { properties: { at: { properties: { zone: { default: "UTC" } } } } };
    const value = JSON.parse('{"at":{"hours":[9,{"to":17}],"note":null},"__proto__":{"admin":true}}');
    const given = structuredClone(value);
    const outcome = await checkJson(schema, value);
    const copy = outcome.ok ? outcome.value : undefined;
    expect(copy).toEqual({ ...given, at: { ...given.at, zone: "UTC" } });
    expect(Object.keys(copy as object)).toContain("__proto__");
    expect(copy).not.toHaveProperty("admin");
    expect(value).toEqual(given);
  });

  test("may come from a program, but has nothing in it that cannot be copied", async () => {
    const day = new Date(0);
    expect(await checkJson({}, { day })).toEqual({ ok: true, value: { day } });
    expect(await checkJson({}, { call: () => 1 })).toMatchObject({ ok: false });
  });
});

describe("a value that does not fit", () => {
  verifies([124, "case 81"], "is told by field, with the value and what is allowed", async () => {
    expect(await messageOf(CITY, {})).toBe("`city` is missing");
    expect(await messageOf(CITY, { city: "Bonn", unit: "kelvin" })).toBe(
      "`unit` is `kelvin`; allowed: `celsius`, `fahrenheit`",
    );
    expect(await messageOf(CITY, { city: 7 })).toBe("`city` is the number `7`; allowed: string");
    expect(await messageOf(CITY, { city: "Bonn", town: "x" })).toBe(
      "`town` is unknown; allowed: `city`, `unit`, `days` and `tags`",
    );
    expect(await messageOf(CITY, { city: "Bonn", days: 0 })).toBe("`days` is `0`; it must be >= 1");
    expect(await messageOf(CITY, { city: "Bonn", tags: ["a", 1] })).toBe(
      "`tags[1]` is the number `1`; allowed: string",
    );
    expect(await messageOf(CITY, "Bonn")).toBe("it is the string `Bonn`; allowed: object");
  });

  test("has all its faults told at once, the first five in words", async () => {
    expect(await messageOf(CITY, { days: 0, unit: "k" })).toContain("; ");
    const many = { properties: Object.fromEntries([..."abcdefgh"].map((name) => [name, false])) };
    expect(await messageOf(many, Object.fromEntries([..."abcdefgh"].map((name) => [name, 1])))).toMatch(
      /^`a` is not allowed;.*; and 3 more$/,
    );
  });

  test("has a repeated item found whatever the order of its keys", async () => {
    const schema = { type: "array", uniqueItems: true } as const;
    expect(
      await messageOf(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toContain("same item twice");
    expect(await messageOf(schema, [{ a: 1 }, { a: 2 }, 1, "1"])).toBe("");
  });
});

describe("dialects", () => {
  test("draft 2020-12 is what a schema without `$schema` is read as", async () => {
    const schema = { type: "array", prefixItems: [{ type: "string" }], items: false } as const;
    expect(await messageOf(schema, ["a"])).toBe("");
    expect(await messageOf(schema, [1])).not.toBe("");
  });

  test("draft-07 counts where it is named", async () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { name: { type: "string" } },
      type: "array",
      items: [{ $ref: "#/definitions/name" }],
      additionalItems: false,
    } as const;
    expect(await messageOf(schema, ["a"])).toBe("");
    expect(await messageOf(schema, ["a", "b"])).not.toBe("");
  });
});

describe("a schema nobody vouches for", () => {
  async function schemaFault(schema: JsonSchema, value: Json = {}): Promise<string> {
    const outcome = await checkJson(schema, value);
    return !outcome.ok && outcome.isSchemaFault ? outcome.message : "";
  }

  test("is a fault when it is wrong, and not an exception", async () => {
    expect(await schemaFault({ type: "no-such-type" })).toContain("the schema can't be used");
    expect(await schemaFault({ $schema: "http://json-schema.org/draft-04/schema#" })).toContain("draft-07");
    expect(await schemaFault({ $async: true })).toContain("$async");
    expect(await schemaFault({ $ref: "#/$defs/none" })).toContain("can't be used");
  });

  test("cannot have anything fetched", async () => {
    expect(await schemaFault({ $ref: "https://example.com/schema.json" })).toContain("example.com");
  });

  test("is refused when it is very large", async () => {
    expect(await schemaFault({ description: "x".repeat(70_000) })).toContain("70018 characters");
  });

  test("cannot hang the host by a pattern", async () => {
    const schema = { properties: { a: { type: "string", pattern: "^(a+)+$" } } } as const;
    expect(await messageOf(schema, { a: `${"a".repeat(5000)}!` })).toContain("must match pattern");
    expect(await messageOf(schema, { a: "aaa" })).toBe("");
    expect(await schemaFault({ properties: { a: { pattern: "(?=x)y" } } })).toContain("(?=x)y");
  });

  test("keeps its patterns apart", async () => {
    const schema = {
      properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } },
      patternProperties: { "^x-": { type: "integer" } },
    } as const;
    expect(await messageOf(schema, { a: "a", b: "b", "x-1": 1 })).toBe("");
    expect(await messageOf(schema, { a: "b" })).not.toBe("");
    expect(await messageOf(schema, { "x-1": "1" })).not.toBe("");
  });

  test("cannot hang the host by references that double at every level", async () => {
    const levels = 40;
    const defs: Record<string, Json> = { [`l${levels}`]: { type: "string" } };
    for (let level = 0; level < levels; level++) {
      const next = { $ref: `#/$defs/l${level + 1}` };
      defs[`l${level}`] = { anyOf: [next, next] };
    }
    expect(await schemaFault({ $ref: "#/$defs/l0", $defs: defs }, 1)).toContain("takes longer");
  });

  test("cannot reach the prototype of all objects", async () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"properties":{"polluted":{"default":1}}},"constructor":{"properties":{"prototype":{"properties":{"polluted":{"default":1}}}}}}}',
    ) as JsonSchema;
    await checkJson(schema, {});
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
