/** From modules of a skill to tools of a run: what is found, loaded, named and offered, and what is said of the rest. */
import { symlinkSync } from "node:fs";
import type { Sandbox } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { createToolsetWorld, toolset } from "../../../../../test/support/toolset-world.ts";
import { verifies } from "../../../../../test/support/verifies.ts";

const TYPED = `
import { defineToolset, type ToolsetContext } from "metier/toolset";
import { greet } from "./greet.ts";

export const Greetings = defineToolset({
  name: "Greetings",
  tools: {
    hello: {
      description: "Greets someone.",
      input: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
      output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run({ who }, context: ToolsetContext) {
        return { text: greet(who), skill: context.skillDir, work: context.workDir, stopped: context.signal.aborted };
      },
    },
  },
});
`;

verifies(138, "tools are loaded from TypeScript in the skill's folder and called", async () => {
  const world = createToolsetWorld();
  world.code({
    "toolsets/index.ts": TYPED,
    "toolsets/greet.ts": 'export const greet = (who: string): string => "Hello " + who;',
  });
  const opened = await world.open(["toolsets/index:Greetings"]);
  expect(opened.diagnostics).toEqual([]);
  expect(opened.tools).toMatchObject([
    {
      id: "pdf:hello",
      name: "pdf__hello",
      description: "Greets someone.",
      inputSchema: { type: "object", required: ["who"] },
      effect: "execute",
    },
  ]);
  const { text, isError } = await opened.call("hello", { who: "Ada" });
  expect(isError).toBe(false);
  expect(JSON.parse(text)).toEqual({
    text: "Hello Ada",
    skill: world.skill,
    work: world.work,
    stopped: false,
  });
});

const PLAIN = '{ tools: { tell: { description: "Tells.", input: { type: "object" }, run: () => "told" } } }';

describe("a module is found", () => {
  const cases: Readonly<Record<string, readonly [entry: string, file: string, text: string]>> = {
    "as JavaScript with a default export": ["lib/a:default", "lib/a.js", `export default ${PLAIN};`],
    "with its ending": ["lib/a.mjs:T", "lib/a.mjs", `export const T = ${PLAIN};`],
    "as the index of a folder": ["lib:T", "lib/index.ts", `export const T = ${PLAIN};`],
    "as CommonJS": ["./lib/a:T", "lib/a.cjs", `exports.T = ${PLAIN};`],
    "as CommonJS that is the toolset": ["lib/a:default", "lib/a.cjs", `module.exports = ${PLAIN};`],
    "as CommonJS that asks for `metier`": [
      "lib/a:T",
      "lib/a.cjs",
      `const { defineToolset } = require("metier"); module.exports = { T: defineToolset(${PLAIN}) };`,
    ],
  };
  for (const [title, [entry, file, text]] of Object.entries(cases)) {
    test(title, async () => {
      const world = createToolsetWorld();
      world.code({ [file]: text });
      const opened = await world.open([entry]);
      expect(opened.diagnostics).toEqual([]);
      expect(await opened.call("tell")).toEqual({ text: "told", isError: false });
    });
  }
});

test("packages in the skill's folder can be imported", async () => {
  const world = createToolsetWorld();
  world.code({
    "a.js": `import { word } from "dictionary";\n${toolset({ tell: "return word" })}`,
    "node_modules/dictionary/package.json":
      '{ "name": "dictionary", "type": "module", "exports": "./index.js" }',
    "node_modules/dictionary/index.js": 'export const word = "metier";',
  });
  expect(await (await world.open(["a:Tools"])).call("tell")).toEqual({ text: "metier", isError: false });
});

describe("names", () => {
  verifies(154, "tools carry the name of their skill, unless the config says otherwise", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ readPages: "return 1", "'count-words'": "return 2" }) });
    const named = await world.open(["a:Tools"]);
    expect(named.tools.map(({ id, name }) => [id, name])).toEqual([
      ["pdf:readPages", "pdf__readPages"],
      ["pdf:count-words", "pdf__count-words"],
    ]);
    const bare = await world.open(["a:Tools"], { isNamespaced: false });
    expect(bare.tools.map(({ id, name }) => [id, name])).toEqual([
      ["pdf:readPages", "readPages"],
      ["pdf:count-words", "count-words"],
    ]);
    expect(await bare.call("count-words")).toEqual({ text: "2", isError: false });
  });

  test("a name that the run has already is left out, and said", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ bash: "return 1", fine: "return 2" }) });
    const opened = await world.open(["a:Tools"], { isNamespaced: false, taken: ["bash"] });
    expect(opened.tools.map(({ name }) => name)).toEqual(["fine"]);
    expect(opened.diagnostics).toMatchObject([
      { code: "toolset.tool-left-out", message: expect.stringContaining("`bash`") },
    ]);
  });

  test("of two toolsets that have a tool of one name, the first has it", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ tell: "return 'a'" }), "b.ts": toolset({ tell: "return 'b'" }) });
    const opened = await world.open(["a:Tools", "b:Tools"]);
    expect(await opened.call("tell")).toEqual({ text: "a", isError: false });
    expect(opened.diagnostics).toMatchObject([
      { code: "toolset.tool-left-out", message: expect.stringMatching(/`tell` of the toolset `b:Tools`/) },
    ]);
  });
});

describe("a tool is left out, with the reason,", () => {
  const object = 'input: { type: "object" }';
  const cases: Readonly<Record<string, readonly [tool: string, reason: string]>> = {
    "that has no good name": [`"a b": { description: "x", ${object}, run() {} }`, "a name is"],
    "that nobody can call": [`a: { description: "x", ${object} }`, "no `run` function"],
    "that is nothing": ["a: null", "no `run` function"],
    "without a description": [`a: { ${object}, run() {} }`, "no `description`"],
    "with a description like a book": [`a: { description: "x".repeat(5000), ${object}, run() {} }`, "4000"],
    "without an input": ['a: { description: "x", run() {} }', "`input` is not a JSON Schema"],
    "whose input is no object": ['a: { description: "x", input: { type: "string" }, run() {} }', "`input`"],
    "whose input is no schema": [
      'a: { description: "x", input: { type: "object", required: 5 }, run() {} }',
      "the schema can't be used",
    ],
    "whose input is too large": [
      'a: { description: "x", input: { type: "object", title: "x".repeat(70000) }, run() {} }',
      "characters",
    ],
    "whose output is no schema": [`a: { description: "x", ${object}, output: [], run() {} }`, "`output`"],
    "whose output cannot be used": [
      `a: { description: "x", ${object}, output: { type: "nothing" }, run() {} }`,
      "`output` cannot be used",
    ],
  };
  for (const [title, [tool, reason]] of Object.entries(cases)) {
    test(title, async () => {
      const world = createToolsetWorld();
      const fine = `fine: { description: "x", ${object}, run: () => "fine" }`;
      world.code({ "a.js": `export const Tools = { name: "Mixed", tools: { ${tool}, ${fine} } };` });
      const opened = await world.open(["a:Tools"]);
      expect(opened.tools.map(({ id }) => id)).toEqual(["pdf:fine"]);
      expect(opened.diagnostics).toMatchObject([
        { code: "toolset.tool-left-out", path: "SKILL.md", message: expect.stringContaining(reason) },
      ]);
      expect(opened.diagnostics[0]?.message).toContain("`Mixed`, `a:Tools`");
    });
  }

  test("when there are too many", async () => {
    const world = createToolsetWorld();
    world.code({
      "a.js": `const tool = { description: "x", input: { type: "object" }, run() {} };
        export const Tools = { tools: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => ["t" + n, tool])) };
        export const More = { tools: { more: tool } };`,
    });
    const opened = await world.open(["a:Tools", "a:More"]);
    expect(opened.tools).toHaveLength(64);
    expect(opened.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^2936 tools .*at most 64/),
      expect.stringMatching(/`more`.*at most 64/),
    ]);
  });
});

test("what nobody can see is removed from descriptions and schemas, and said", async () => {
  const world = createToolsetWorld();
  world.code({
    "a.js": `export const Tools = { tools: { tell: { description: "Tells\\u202E.",
      input: { type: "object", properties: { a: { description: "hid\\u{E0041}den" } } }, run() {} } } };`,
  });
  const opened = await world.open(["a:Tools"]);
  expect(opened.tools).toMatchObject([
    { description: "Tells.", inputSchema: { properties: { a: { description: "hidden" } } } },
  ]);
  expect(opened.diagnostics).toMatchObject([{ code: "disclosure.text-removed" }]);
});

describe("a toolset is not loaded, with the reason,", () => {
  const cases: Readonly<Record<string, readonly [entry: string, text: string, reason: string | RegExp]>> = {
    "whose module is missing": ["b:Tools", "", "`b` is not a module of the skill"],
    "whose module with an ending is missing": ["b.ts:Tools", "", "does not exist"],
    "that the module does not export": ["a:Other", toolset({}), "does not export `Other`"],
    "that is something else": ["a:Tools", "export const Tools = () => 5;", "define it with `defineToolset`"],
    "that is nothing": ["a:Tools", "export const Tools = null;", "define it with `defineToolset`"],
    "with a fault in its syntax": ["a:Tools", "export const Tools = {;", "SyntaxError"],
    "with TypeScript that Node cannot run": ["a:Tools", "export enum Tools { A }", "enum"],
    "that throws while it is loaded": ["a:Tools", 'throw new TypeError("at once");', "TypeError: at once"],
    "that throws something odd": ["a:Tools", "throw Object.create(null);", "cannot be loaded"],
    "that imports what is not there": ["a:Tools", 'import "nowhere";', "nowhere"],
    "that wants more of `metier` than there is": [
      "a:Tools",
      'import { createMetier } from "metier"; export const Tools = createMetier;',
      "createMetier",
    ],
    "that ends its process": [
      "a:Tools",
      'console.error("good bye"); process.exit(7);',
      /exited with code 7[\s\S]*good bye/,
    ],
    "whose description is no JSON": [
      "a:Tools",
      "export const Tools = { tools: { a: { description: 5n, input: {}, run() {} } } };",
      "BigInt",
    ],
    "whose description has no end": [
      "a:Tools",
      'export const Tools = { tools: { a: { description: "x".repeat(3e6), input: {}, run() {} } } };',
      "the limit is",
    ],
  };
  for (const [title, [entry, text, reason]] of Object.entries(cases)) {
    test(title, async () => {
      const world = createToolsetWorld();
      world.code({ "a.ts": text });
      const opened = await world.open([entry]);
      expect(opened.tools).toEqual([]);
      expect(opened.diagnostics).toMatchObject([{ code: "toolset.not-loaded", severity: "warning" }]);
      expect(opened.diagnostics[0]?.message).toMatch(reason);
      expect(opened.diagnostics[0]?.message).toContain(`\`${entry}\``);
    });
  }

  test("that is never done loading", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": "for (;;);" });
    const opened = await world.open(["a:Tools"], { times: { loadMs: 500, callMs: 1000 } });
    expect(opened.diagnostics[0]?.message).toContain("it timed out after 0.5 s");
  });

  test("when the run is stopped meanwhile", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": "await new Promise(() => {});" });
    const opened = await world.open(["a:Tools"], { signal: AbortSignal.timeout(300) });
    expect(opened.diagnostics[0]?.message).toContain("the run was stopped");
  });

  test("and the other toolsets of the skill are", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": "throw 5;", "b.ts": toolset({ tell: "return 'b'" }) });
    const opened = await world.open(["a:Tools", "missing:Tools", "b:Tools"]);
    expect(opened.diagnostics.map(({ code }) => code)).toEqual(["toolset.not-loaded", "toolset.not-loaded"]);
    expect(await opened.call("tell")).toEqual({ text: "b", isError: false });
  });

  test("from outside of the skill's folder", async () => {
    const world = createToolsetWorld();
    world.write({ "project/a.ts": toolset({ tell: "return 1" }) });
    symlinkSync(`${world.project}/a.ts`, `${world.skill}/a.ts`);
    const opened = await world.open(["a:Tools"]);
    expect(opened.diagnostics[0]?.message).toContain("leads out of the skill's folder");
  });

  const shell: Sandbox = {
    backend: "just-bash",
    runsPrograms: false,
    run: () => Promise.reject(new Error("nothing is run")),
  };
  test("where nothing can hold it", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ tell: "return 1" }) });
    const reasons = [];
    for (const given of [{ sandbox: shell }, { sandbox: undefined }, { folder: undefined }]) {
      const { tools, diagnostics } = await world.open(["a:Tools"], given as object);
      expect(tools).toEqual([]);
      reasons.push(diagnostics[0]?.message);
    }
    expect(reasons).toEqual([
      expect.stringContaining("`just-bash` cannot run programs"),
      expect.stringContaining("no sandbox works here"),
      expect.stringContaining("only a skill with its own folder"),
    ]);
  });
});
