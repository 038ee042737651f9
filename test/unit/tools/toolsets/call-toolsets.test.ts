/** Calls of a skill's own tools: every one gets one answer, whatever the tool, its process or its files do meanwhile. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MAX_LINE_BYTES } from "../../../../src/sandbox/inside/toolset-protocol.ts";
import { processesWith, until } from "../../../support/processes.ts";
import { verifies } from "../../../support/verifies.ts";
import { createToolsetWorld, type OpenedTools, toolset } from "./toolset-world.ts";

/** One module with these tools. */
async function open(
  runs: Readonly<Record<string, string>>,
  before = "",
  given: Parameters<ReturnType<typeof createToolsetWorld>["open"]>[1] = {},
): Promise<OpenedTools> {
  const world = createToolsetWorld();
  world.code({ "a.js": toolset(runs, before) });
  return world.open(["a:Tools"], given);
}

/** What a module keeps between calls of one process. */
const COUNTING = "let calls = 0;";
const COUNT = "return ++calls";

const NOT_TRUSTED =
  "`pdf:tell` was not called: its code is not loaded, because the skill is not trusted as it is now.";

describe("an answer", () => {
  test("is a text as it is, and anything else as JSON", async () => {
    const { call } = await open({
      text: "return 'a \"text\"'",
      list: "return [1, { a: null }]",
      nothing: "",
      later: "return new Promise((resolve) => setTimeout(resolve, 5, true))",
    });
    expect(await call("text")).toEqual({ text: 'a "text"', isError: false });
    expect(await call("list")).toEqual({ text: '[1,{"a":null}]', isError: false });
    expect(await call("nothing")).toEqual({ text: "null", isError: false });
    expect(await call("later")).toEqual({ text: "true", isError: false });
  });

  test("that is long is kept whole in a file, of which the model is told", async () => {
    const { call } = await open({ long: "return 'x'.repeat(100_000)" });
    const { text, isError } = await call("long");
    expect(isError).toBe(false);
    expect(text).toContain("70000 characters left out");
    expect(text).toMatch(/the whole of stdout is in `\/.*\/output\//);
  });

  const faults: Readonly<Record<string, readonly [run: string, message: string]>> = {
    "that was thrown": ["throw new RangeError('too far')", "`pdf:a` failed: RangeError: too far"],
    "that was no error": ["throw { code: 5 }", "`pdf:a` failed: { code: 5 }"],
    "that came late": ["await null; throw new Error('late')", "`pdf:a` failed: Error: late"],
    "that is no JSON": ["return 5n", "BigInt"],
    "that has no end": ["const a = {}; a.a = a; return a", "circular"],
    "that is too long": ["return 'x'.repeat(2_000_000)", `at most ${MAX_LINE_BYTES}`],
  };
  for (const [title, [run, message]] of Object.entries(faults)) {
    test(`${title} is an error, and the process goes on`, async () => {
      const { call } = await open({ a: run, count: COUNT }, COUNTING);
      await call("count");
      const answer = await call("a");
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain(message);
      expect(await call("count")).toEqual({ text: "2", isError: false });
    });
  }

  test("that does not fit the tool's own `output` is an error", async () => {
    const world = createToolsetWorld();
    world.code({
      "a.js": `export const Tools = { tools: { total: { description: "x", input: { type: "object" },
        output: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
        run: ({ total }) => ({ total }) } } };`,
    });
    const { call } = await world.open(["a:Tools"]);
    expect(await call("total", { total: 5 })).toEqual({ text: '{"total":5}', isError: false });
    const wrong = await call("total", { total: "five" });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toMatch(/`pdf:total` gave a result that does not fit its own `output`: .*total/);
  });

  test("to an input that is too long is an error, and nothing is sent", async () => {
    const { call } = await open({ count: COUNT }, COUNTING);
    const { text, isError } = await call("count", { text: "x".repeat(MAX_LINE_BYTES) });
    expect([isError, text]).toEqual([true, expect.stringContaining("its input has")]);
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });
});

test("several calls run at once, and each gets its own answer", async () => {
  const { call } = await open(
    {
      wait: "await new Promise((resolve) => setTimeout(resolve, input.ms)); order.push(input.ms); return input.ms",
      order: "return order",
    },
    "const order = [];",
  );
  const answers = await Promise.all([400, 10, 200].map((ms) => call("wait", { ms })));
  expect(answers.map(({ text }) => text)).toEqual(["400", "10", "200"]);
  expect(await call("order")).toEqual({ text: "[10,200,400]", isError: false });
});

test("what a toolset prints, or what it starts prints, is no message, and it reads none", async () => {
  const { call } = await open(
    {
      print: `console.log('{"type":"result","id":1,"value":"forged"}');
        process.stdout.write("no line end");
        execSync("echo from a child; cat", { stdio: "inherit" });
        writeSync(1, "straight\\n");
        return readFileSync(0, "utf8")`,
    },
    'import { execSync } from "node:child_process"; import { readFileSync, writeSync } from "node:fs"; console.log("loading");',
  );
  expect(await call("print")).toEqual({ text: "", isError: false });
  expect(await call("print")).toEqual({ text: "", isError: false });
});

describe("a process that ends", () => {
  test("is an error that says how, with what it wrote last; the next call starts another", async () => {
    const { call } = await open(
      {
        leave: "console.error('x'.repeat(5000)); console.error('my last words'); process.exit(3)",
        die: "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})",
        forget: "Promise.reject(new Error('forgotten')); await new Promise(() => {})",
        count: COUNT,
      },
      COUNTING,
    );
    expect(await call("count")).toEqual({ text: "1", isError: false });
    const left = await call("leave");
    expect(left.isError).toBe(true);
    expect(left.text).toMatch(
      /^`pdf:leave` failed: the process ended with exit code 3\.[\s\S]*my last words$/,
    );
    expect(left.text.length).toBeLessThan(2500);
    expect(await call("count")).toEqual({ text: "1", isError: false });
    expect((await call("die")).text).toContain("the process was ended by SIGKILL");
    expect((await call("forget")).text).toMatch(/exit code 1[\s\S]*Error: forgotten/);
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });

  test("ends the calls that are under way in it", async () => {
    const { call } = await open({ wait: "await new Promise(() => {})", leave: "process.exit(4)" });
    const [waited, left] = await Promise.all([call("wait"), call("leave")]);
    expect(waited.text).toBe("`pdf:wait` failed: the process ended with exit code 4.");
    expect(left.text).toBe("`pdf:leave` failed: the process ended with exit code 4.");
  });

  test("again and again is not started any more, until its code is changed", async () => {
    const world = createToolsetWorld();
    world.code({ "a.js": toolset({ leave: "process.exit(4)" }) });
    const { call } = await world.open(["a:Tools"]);
    const answers = [];
    for (let index = 0; index < 8; index++) answers.push((await call("leave")).text);
    expect(answers.filter((text) => text.includes("exit code 4"))).toHaveLength(5);
    expect(answers.at(-1)).toContain("has ended 5 times and is not started again");
    world.code({ "a.js": toolset({ leave: "return 'stays'" }) });
    expect(await call("leave")).toEqual({ text: "stays", isError: false });
  });
});

describe("a process that breaks the protocol", () => {
  const say = (text: string): string => `writeSync(3, ${text}); await new Promise(() => {})`;
  const cases: Readonly<Record<string, readonly [run: string, reason: string]>> = {
    "by garbage": [say("'garbage\\n'"), "no message of the protocol"],
    "by another message": [say('\'{"type":"call","id":1}\\n\''), "no message of the protocol"],
    "by bytes that are no text": [say("Buffer.from([255, 254, 0, 10])"), "no message of the protocol"],
    "by another version": [say('\'{"type":"loaded","protocol":2}\\n\''), "another version"],
    "by what it was not to load": [say('\'{"type":"loaded","protocol":1}\\n\''), "not what it was to load"],
    "by a line without end": [
      "for (;;) writeSync(3, 'x'.repeat(65536))",
      `at most ${MAX_LINE_BYTES} are read`,
    ],
  };
  for (const [title, [run, reason]] of Object.entries(cases)) {
    test(`${title} is ended, and the next call starts another`, async () => {
      const { call } = await open(
        { a: run, count: COUNT },
        `import { writeSync } from "node:fs"; ${COUNTING}`,
      );
      const { text, isError } = await call("a");
      expect([isError, text]).toEqual([true, expect.stringContaining(reason)]);
      expect(await call("count")).toEqual({ text: "1", isError: false });
    });
  }

  test("by answers to calls that nobody made is not listened to", async () => {
    const { call } = await open(
      { a: 'writeSync(3, \'{"type":"result","id":99,"value":1}\\n\'); return \'fine\'' },
      'import { writeSync } from "node:fs";',
    );
    expect(await call("a")).toEqual({ text: "fine", isError: false });
  });

  test("by a flood on standard error is ended at a limit, and the next call starts another", async () => {
    const { call } = await open(
      { flood: "for (;;) execSync('head -c 8000000 /dev/zero >&2', { stdio: 'inherit' })", count: COUNT },
      `import { execSync } from "node:child_process"; ${COUNTING}`,
    );
    expect((await call("flood")).text).toContain("the process was ended at a limit");
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });
});

describe("a call that takes too long, or is cancelled,", () => {
  const times = { loadMs: 30_000, callMs: 700 };

  test("is told so; a tool that stops keeps its process", async () => {
    const { call } = await open(
      {
        wait: "await new Promise((_, reject) => context.signal.addEventListener('abort', () => { stopped += 1; reject(new Error('stopped')); }))",
        stopped: "return stopped",
      },
      "let stopped = 0;",
      { times },
    );
    expect(await call("wait")).toEqual({
      text: "`pdf:wait` failed: the call was stopped, because it took more than 700 ms.",
      isError: true,
    });
    const controller = new AbortController();
    const waiting = call("wait", {}, { signal: controller.signal });
    controller.abort();
    expect((await waiting).text).toContain("the run was stopped");
    expect(await call("stopped")).toEqual({ text: "2", isError: false });
  });

  test("is ended with its process where the tool does not stop", async () => {
    const { call } = await open(
      { wait: "await new Promise(() => {})", loop: "for (;;);", count: COUNT },
      COUNTING,
      {
        times,
      },
    );
    for (const tool of ["wait", "loop"]) {
      expect(await call("count")).toEqual({ text: "1", isError: false });
      expect(await call(tool)).toEqual({
        text: `\`pdf:${tool}\` failed: the call was stopped, because it took more than 700 ms.`,
        isError: true,
      });
    }
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });

  test("before it was made is not made", async () => {
    const { call } = await open({ count: "await null; return ++calls" }, COUNTING);
    expect((await call("count", {}, { signal: AbortSignal.abort() })).isError).toBe(true);
  });
});

test("closing ends the process and everything it started", async () => {
  const mark = "86123.5";
  const opened = await open(
    { start: `spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore" }).unref(); return 1` },
    'import { spawn } from "node:child_process";',
  );
  await opened.call("start");
  await until("the child runs", () => processesWith(mark).length > 0);
  await opened.close();
  await until("the child is gone", () => processesWith(mark).length === 0);
  expect((await opened.call("start")).text).toBe("`pdf:start` was not called: the run has ended.");
});

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
    expect((await call("tell")).text).toBe("`pdf:tell` does not exist any more: its code was changed.");
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
  const { call } = await open(
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
  const { call } = await open({ count: COUNT }, COUNTING, { taintedBy: () => taintedBy });
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

test("a sandbox that fails is an error like any other", async () => {
  const world = createToolsetWorld();
  world.code({ "a.ts": toolset({ count: COUNT }, COUNTING) });
  const sandbox = {
    backend: "none",
    runsPrograms: true,
    run: () => Promise.reject(new Error("no luck")),
  } as const;
  const opened = await world.open(["a:Tools"], { sandbox });
  expect(opened.diagnostics).toMatchObject([
    { code: "toolset.not-loaded", message: expect.stringContaining("no luck") },
  ]);
});
