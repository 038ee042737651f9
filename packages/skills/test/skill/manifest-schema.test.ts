import { expect, test } from "vitest";
import { MANIFEST_FIELDS, manifestJsonSchema } from "../../src/skill/manifest-fields.ts";

interface Schema {
  readonly $schema: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly patternProperties: Readonly<Record<string, { readonly $ref: string }>>;
}

const schema = manifestJsonSchema() as unknown as Schema;

test("the schema has every field with its description", () => {
  expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
  expect(Object.keys(schema.properties)).toEqual(MANIFEST_FIELDS.map((field) => field.name));
  for (const property of Object.values(schema.properties)) expect(property.description).toMatch(/\.$/);
});

test("the schema knows the limits of the specification", () => {
  expect(schema.required).toEqual(["name", "description"]);
  expect(schema.properties.name).toMatchObject({ type: "string", maxLength: 64 });
  expect(schema.properties.description).toMatchObject({ minLength: 1, maxLength: 1024 });
  expect(schema.properties.compatibility).toMatchObject({ minLength: 1, maxLength: 500 });
  expect(schema.properties.metadata).toMatchObject({ additionalProperties: { type: "string" } });
  expect(schema.properties["max-iterations"]).toMatchObject({ type: "integer", minimum: 1 });
});

test("the pattern for names is a regular expression that agrees with the grammar", () => {
  const pattern = new RegExp(String(schema.properties.name?.pattern), "u");
  for (const name of ["a", "pdf-2-text", "会议纪要"]) expect(pattern.test(name), name).toBe(true);
  for (const name of ["Pdf", "a--b", "-a", "a_b", ""]) expect(pattern.test(name), name).toBe(false);
});

test("other spellings refer to the field they mean", () => {
  const found = Object.entries(schema.patternProperties).filter(([pattern]) =>
    new RegExp(pattern).test("max_iterations"),
  );
  expect(found.map(([, { $ref }]) => $ref)).toEqual(["#/properties/max-iterations"]);
});
