import { expect, test } from "vitest";
import { spellingsOf, toCamelCase, toKebabCase, toSnakeCase } from "../src/text.ts";

test("snake_case and camelCase become kebab-case", () => {
  expect(["max_iterations", "maxIterations", "max-iterations", "name"].map(toKebabCase)).toEqual([
    "max-iterations",
    "max-iterations",
    "max-iterations",
    "name",
  ]);
});

test("kebab-case becomes the other two spellings", () => {
  expect(toSnakeCase("disable-model-invocation")).toBe("disable_model_invocation");
  expect(toCamelCase("disable-model-invocation")).toBe("disableModelInvocation");
});

test("a key of one word has one spelling", () => {
  expect(spellingsOf("name")).toEqual(["name"]);
  expect(spellingsOf("opt-in")).toEqual(["opt-in", "opt_in", "optIn"]);
});
