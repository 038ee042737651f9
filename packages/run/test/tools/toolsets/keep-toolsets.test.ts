/** When the process of a skill's toolsets is replaced by another, and when none is started any more. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../test/support/processes.ts";
import {
  COUNT,
  COUNTING,
  createToolsetWorld,
  openModule,
  toolset,
} from "../../../../../test/support/toolset-world.ts";
import { verifies } from "../../../../../test/support/verifies.ts";

const NOT_TRUSTED =
  "`pdf:tell` was not called: its code is not loaded, because the skill in its current form is not trusted.";

describe("code that is changed", () => {
  verifies(138, "is loaded anew by the next call, also when only an import of it was changed", async () => {
    const world = createToolsetWorld();
    world.code({
      "a.ts": `import { word } from "./lib/word.ts";\n${toolset({ tell: "return word", count: COUNT }, COUNTING)}`,
      "lib/word.ts": 'export const word: string = "old";',
    });
    const { call } = await world.open(["a:Tools"]);
    expect(await call("tell")).toEqual({ text: "old", isError: false });
    await call("count");
    world.code({ "lib/word.ts": 'export const word: string = "new";' });
    expect(await call("tell")).toEqual({ text: "new", isError: false });
    expect(await call("count")).toEqual({ text: "1", isError: false });
    expect(await call("count")).toEqual({ text: "2", isError: false });
  });

  test("is not loaded when the skill is not trusted as it is now", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ tell: "return 'old'" }) });
    let isTrusted = true;
    const { call } = await world.open(["a:Tools"], { mayLoad: () => isTrusted });
    expect(await call("tell")).toEqual({ text: "old", isError: false });
    isTrusted = false;
    expect(await call("tell")).toEqual({ text: "old", isError: false });
    world.code({ "a.ts": toolset({ tell: "return 'new'" }) });
    expect(await call("tell")).toEqual({
      text: NOT_TRUSTED,
      isError: true,
    });
  });

  test("where nobody looks for changes is not loaded by the next process either, unless the skill is trusted", async () => {
    const world = createToolsetWorld();
    const imports = 'import { said } from "./node_modules/said.js";';
    world.code({
      "node_modules/said.js": "export const said = 'old';",
      "a.js": toolset({ tell: "return said", crash: "process.exit(1)" }, imports),
    });
    let isTrusted = true;
    const { call } = await world.open(["a:Tools"], { mayLoad: () => isTrusted });
    expect(await call("tell")).toEqual({ text: "old", isError: false });
    world.code({ "node_modules/said.js": "export const said = 'new';" });
    isTrusted = false;
    await call("crash");
    expect(await call("tell")).toEqual({ text: NOT_TRUSTED, isError: true });
  });

  test("and lacks the tool now is an error", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ tell: "return 1", other: "return 2" }) });
    const { call } = await world.open(["a:Tools"]);
    world.code({ "a.ts": toolset({ other: "return 3" }) });
    expect((await call("tell")).text).toBe("`pdf:tell` no longer exists: its code was changed.");
    expect(await call("other")).toEqual({ text: "3", isError: false });
  });

  test("and takes another input now is told with the new schema, by which the next call is checked", async () => {
    const world = createToolsetWorld();
    const write = (field: string): void =>
      world.code({
        "a.ts": `export const Tools = { tools: { tell: { description: "x",
          input: { type: "object", required: ["${field}"] }, run: (input) => input.${field} } } };`,
      });
    write("old");
    const opened = await world.open(["a:Tools"]);
    expect(await opened.call("tell", { old: 1 })).toEqual({ text: "1", isError: false });
    write("fresh");
    const told = await opened.call("tell", { old: 1 });
    expect(told.isError).toBe(true);
    expect(told.text).toContain('{"type":"object","required":["fresh"]}');
    expect(opened.tools[0]?.inputSchema).toEqual({ type: "object", required: ["fresh"] });
    expect(await opened.call("tell", { fresh: 2 })).toEqual({ text: "2", isError: false });
  });

  test("and is broken is an error, until it is mended", async () => {
    const world = createToolsetWorld();
    world.code({ "a.ts": toolset({ tell: "return 1" }) });
    const { call } = await world.open(["a:Tools"]);
    world.code({ "a.ts": "export const Tools = {;" });
    const broken = await call("tell");
    expect([broken.isError, broken.text]).toEqual([true, expect.stringContaining("SyntaxError")]);
    world.code({ "a.ts": toolset({ tell: "return 2" }) });
    expect(await call("tell")).toEqual({ text: "2", isError: false });
  });

  test("while a call is under way leaves that call its process", async () => {
    const world = createToolsetWorld();
    const write = (age: string): void => {
      const fs = 'import { existsSync, writeFileSync } from "node:fs";';
      const wait = `writeFileSync(context.workDir + "/begun", "");
        while (!existsSync(context.workDir + "/go-on")) await new Promise((resolve) => setTimeout(resolve, 20));`;
      world.code({ "a.ts": toolset({ wait: `${wait} return "${age}"`, tell: `return "${age}"` }, fs) });
    };
    write("old");
    const { call } = await world.open(["a:Tools"]);
    const waiting = call("wait");
    await until("the call is under way", () => existsSync(join(world.work, "begun")));
    write("new");
    expect(await call("tell")).toEqual({ text: "new", isError: false });
    writeFileSync(join(world.work, "go-on"), "");
    expect(await waiting).toEqual({ text: "old", isError: false });
  });
});

test("a process is given the run's variables, and started anew when they are others", async () => {
  const { call } = await openModule(
    { tell: "return Object.keys(process.env).filter((name) => name.startsWith('API'))" },
    "",
    {
      env: { API_KEY: "a-secret-value", API_URL: "x" },
    },
  );
  const env = { API_KEY: "a-secret-value", API_URL: "x" };
  expect(await call("tell", {}, { env })).toEqual({ text: '["API_KEY","API_URL"]', isError: false });
  expect(await call("tell", {}, { env: { API_URL: "x" } })).toEqual({ text: '["API_URL"]', isError: false });
});

test("a process that was started before an untrusted text came, with what it holds open, is started anew", async () => {
  let taintedBy: string | undefined;
  const { call } = await openModule({ count: COUNT }, COUNTING, { taintedBy: () => taintedBy });
  const count = async (): Promise<string> => (await call("count")).text;
  expect([await count(), await count()]).toEqual(["1", "2"]);
  taintedBy = "stranger";
  expect([await count(), await count()]).toEqual(["1", "2"]);
});

test("a process that was started before a secret came into a folder it may change is started anew", async () => {
  const world = createToolsetWorld();
  world.code({ "a.ts": toolset({ count: COUNT }, COUNTING) });
  const { call } = await world.open(["a:Tools"], { world: world.world({ write: true }) });
  const count = async (): Promise<string> =>
    (await call("count", {}, { world: world.world({ write: true }) })).text;
  expect([await count(), await count()]).toEqual(["1", "2"]);
  world.write({ "project/.env": "KEY=value" });
  expect([await count(), await count()]).toEqual(["1", "2"]);
});
