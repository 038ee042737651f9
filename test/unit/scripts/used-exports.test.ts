import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findUsedExports } from "../../../scripts/build/used-exports.mjs";
import { ROOT } from "../../../scripts/setup/repository.mjs";

test("what sources name of a package that they load on demand is found in all of them", () => {
  const used = findUsedExports([
    'const { jwtVerify, errors: kinds } = await import("jose");',
    'const { base64url } = await import("jose");\nconst { Hono } = await import("hono");',
    'const { listAction } = await import("./list.ts");\nconst { scanSkill } = await import("@metier/scan/engine");',
  ]);
  expect(Object.fromEntries([...used].map(([name, names]) => [name, [...names]]))).toEqual({
    jose: ["jwtVerify", "errors", "base64url"],
    hono: ["Hono"],
  });
});

test("a package that one source takes as a whole stays whole", () => {
  const named = 'const { jwtVerify } = await import("jose");';
  expect(findUsedExports([named, 'const jose = await import("jose");']).size).toBe(0);
  expect(findUsedExports([`${named}\nconst all = Promise.all([import("jose")]);`]).size).toBe(0);
});

test("the bundle has the loop of the AI SDK, but not what no run uses, nor the languages of its schemas", () => {
  const chunks = join(ROOT, "packages/metier/dist/chunks");
  const codes = readdirSync(chunks).map((name) => readFileSync(join(chunks, name), "utf8"));
  const having = (text: string) => codes.filter((code) => code.includes(text)).length;
  expect(having("ai-sdk-agent/tool-loop")).toBe(1);
  expect(having("function embedMany(")).toBe(0);
  expect(having("Ungültige Eingabe")).toBe(0);
});
