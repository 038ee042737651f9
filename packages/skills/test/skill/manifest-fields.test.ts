import { expect, test } from "vitest";
import { acceptedSpellings, isSpecField } from "../../src/skill/manifest.ts";
import {
  findManifestField,
  findManifestFieldInAnyCase,
  MANIFEST_FIELDS,
} from "../../src/skill/manifest-fields.ts";

test("no spelling belongs to two fields", () => {
  const spellings = MANIFEST_FIELDS.flatMap(acceptedSpellings);
  expect(new Set(spellings).size).toBe(spellings.length);
});

test("names are kebab-case and descriptions are sentences", () => {
  for (const { name, description } of MANIFEST_FIELDS) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(description).toMatch(/^\S.*\.$/);
  }
});

test("the specification has six fields", () => {
  const names = MANIFEST_FIELDS.filter(isSpecField).map((field) => field.name);
  expect(names.sort()).toEqual([
    "allowed-tools",
    "compatibility",
    "description",
    "license",
    "metadata",
    "name",
  ]);
});

test("a field is found in every spelling, and by alias", () => {
  for (const key of ["max-iterations", "max_iterations", "maxIterations"]) {
    expect(findManifestField(key)?.name).toBe("max-iterations");
  }
  expect(findManifestField("execution_mode")?.name).toBe("context");
  expect(findManifestField("Description")).toBeUndefined();
  expect(findManifestFieldInAnyCase("Description")?.name).toBe("description");
});

test("what a field is a fallback for is a field", () => {
  for (const { fallbackFor } of MANIFEST_FIELDS) {
    if (fallbackFor !== undefined) expect(findManifestField(fallbackFor)?.name).toBe(fallbackFor);
  }
});
