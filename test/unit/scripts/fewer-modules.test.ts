import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { leaveOutModules } from "../../../scripts/build/fewer-modules.mjs";

const HANDING = `import {
  listAction
} from "./chunk-A.js";
import "./chunk-CORE.js";
import "./chunk-HELP.js";
export {
  listAction
};
`;

test("a module that only hands on is imported directly, and helpers only where they are used", () => {
  const modules = [
    {
      path: "/d/cli/main.js",
      code: `import "../chunks/chunk-HELP.js";\nconst load = () => import("../chunks/list-L.js");\n`,
    },
    { path: "/d/chunks/list-L.js", code: HANDING },
    {
      path: "/d/chunks/chunk-A.js",
      code: `import { __export } from "./chunk-HELP.js";\nexport { listAction };\n`,
    },
    { path: "/d/chunks/chunk-HELP.js", code: "var __create = Object.create;\nexport { __export };\n" },
  ];
  expect(leaveOutModules(modules)).toEqual([
    { path: "/d/cli/main.js", code: `const load = () => import("../chunks/chunk-A.js");\n` },
    ...modules.slice(2),
  ]);
});

test("what programs import stays, also if it only hands on", () => {
  const modules = [{ path: "/d/index.js", code: HANDING.replace("./chunk-A.js", "./chunks/chunk-A.js") }];
  expect(leaveOutModules(modules)).toEqual(modules);
});

test("one that hands on under another name, or does something, stays", () => {
  for (const code of [
    HANDING.replace("  listAction\n};", "  listAction as list\n};"),
    HANDING.replace("export {", "start();\nexport {"),
  ]) {
    const modules = [
      { path: "/d/chunks/list-L.js", code },
      { path: "/d/chunks/b.js", code: `await import("./list-L.js");\n` },
    ];
    expect(leaveOutModules(modules)).toEqual(modules);
  }
});

test("a built program imports no module for nothing", () => {
  const main = readFileSync(new URL("../../../packages/metier/dist/cli/main.js", import.meta.url), "utf8");
  expect(main).toMatch(/\bfrom\s?"\.\.\/chunks\//);
  expect(main).not.toMatch(/\bimport\s?"/);
});
