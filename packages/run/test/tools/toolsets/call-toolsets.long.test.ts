import { MAX_LINE_BYTES } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { processesWith, until } from "../../../../../test/support/processes.ts";
import {
  COUNT,
  COUNTING,
  createToolsetWorld,
  openModule,
  toolset,
} from "../../../../../test/support/toolset-world.ts";

describe("an answer", () => {
  test("is a text as it is, and anything else as JSON", async () => {
    const { call } = await openModule({
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
    const { call } = await openModule({ long: "return 'x'.repeat(100_000)" });
    const { text, isError } = await call("long");
    expect(isError).toBe(false);
    expect(text).toContain("70000 characters left out");
    expect(text).toMatch(/all of stdout is in `\/.*\/output\//);
  });

  const faults: Readonly<Record<string, readonly [run: string, message: string]>> = {
    "that was thrown": ["throw new RangeError('too far')", "`pdf:a` failed: RangeError: too far"],
    "that was no error": ["throw { code: 5 }", "`pdf:a` failed: { code: 5 }"],
    "that came late": ["await null; throw new Error('late')", "`pdf:a` failed: Error: late"],
    "that is no JSON": ["return 5n", "BigInt"],
    "that has no end": ["const a = {}; a.a = a; return a", "circular"],
    "that is too long": ["return 'x'.repeat(2_000_000)", `the limit is ${MAX_LINE_BYTES}`],
  };
  for (const [title, [run, message]] of Object.entries(faults)) {
    test(`${title} is an error, and the process goes on`, async () => {
      const { call } = await openModule({ a: run, count: COUNT }, COUNTING);
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
    expect(wrong.text).toMatch(/`pdf:total` returned a result that does not match its own `output`: .*total/);
  });

  test("to an input that is too long is an error, and nothing is sent", async () => {
    const { call } = await openModule({ count: COUNT }, COUNTING);
    const { text, isError } = await call("count", { text: "x".repeat(MAX_LINE_BYTES) });
    expect([isError, text]).toEqual([true, expect.stringContaining("its input has")]);
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });
});

test("several calls run at once, and each gets its own answer", async () => {
  const { call } = await openModule(
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
  const { call } = await openModule(
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
    const { call } = await openModule(
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
    expect(left.text).toMatch(/^`pdf:leave` failed: the process exited with code 3\.[\s\S]*my last words$/);
    expect(left.text.length).toBeLessThan(2500);
    expect(await call("count")).toEqual({ text: "1", isError: false });
    expect((await call("die")).text).toContain("the process was killed by SIGKILL");
    expect((await call("forget")).text).toMatch(/exited with code 1[\s\S]*Error: forgotten/);
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });

  test("ends the calls that are under way in it", async () => {
    const { call } = await openModule({ wait: "await new Promise(() => {})", leave: "process.exit(4)" });
    const [waited, left] = await Promise.all([call("wait"), call("leave")]);
    expect(waited.text).toBe("`pdf:wait` failed: the process exited with code 4.");
    expect(left.text).toBe("`pdf:leave` failed: the process exited with code 4.");
  });

  test("again and again is not started any more, until its code is changed", async () => {
    const world = createToolsetWorld();
    world.code({ "a.js": toolset({ leave: "process.exit(4)" }) });
    const { call } = await world.open(["a:Tools"]);
    const answers = [];
    for (let index = 0; index < 8; index++) answers.push((await call("leave")).text);
    expect(answers.filter((text) => text.includes("exited with code 4"))).toHaveLength(5);
    expect(answers.at(-1)).toContain("crashed 5 times and is not restarted");
    world.code({ "a.js": toolset({ leave: "return 'stays'" }) });
    expect(await call("leave")).toEqual({ text: "stays", isError: false });
  });
});

describe("a process that breaks the protocol", () => {
  const say = (text: string): string => `writeSync(3, ${text}); await new Promise(() => {})`;
  const cases: Readonly<Record<string, readonly [run: string, reason: string]>> = {
    "by garbage": [say("'garbage\\n'"), "not a protocol message"],
    "by another message": [say('\'{"type":"call","id":1}\\n\''), "not a protocol message"],
    "by bytes that are no text": [say("Buffer.from([255, 254, 0, 10])"), "not a protocol message"],
    "by another version": [say('\'{"type":"loaded","protocol":2}\\n\''), "protocol version"],
    "by what it was not to load": [
      say('\'{"type":"loaded","protocol":1}\\n\''),
      "other than what it was told to",
    ],
    "by a line without end": ["for (;;) writeSync(3, 'x'.repeat(65536))", `the limit is ${MAX_LINE_BYTES}`],
  };
  for (const [title, [run, reason]] of Object.entries(cases)) {
    test(`${title} is ended, and the next call starts another`, async () => {
      const { call } = await openModule(
        { a: run, count: COUNT },
        `import { writeSync } from "node:fs"; ${COUNTING}`,
      );
      const { text, isError } = await call("a");
      expect([isError, text]).toEqual([true, expect.stringContaining(reason)]);
      expect(await call("count")).toEqual({ text: "1", isError: false });
    });
  }

  test("by answers to calls that nobody made is not listened to", async () => {
    const { call } = await openModule(
      { a: 'writeSync(3, \'{"type":"result","id":99,"value":1}\\n\'); return \'fine\'' },
      'import { writeSync } from "node:fs";',
    );
    expect(await call("a")).toEqual({ text: "fine", isError: false });
  });

  test("by a flood on standard error is ended at a limit, and the next call starts another", async () => {
    const { call } = await openModule(
      { flood: "for (;;) execSync('head -c 8000000 /dev/zero >&2', { stdio: 'inherit' })", count: COUNT },
      `import { execSync } from "node:child_process"; ${COUNTING}`,
    );
    expect((await call("flood")).text).toContain("the process was stopped at a limit");
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });
});

describe("a call that takes too long, or is cancelled,", () => {
  const times = { loadMs: 30_000, callMs: 700 };

  test("is told so; a tool that stops keeps its process", async () => {
    const { call } = await openModule(
      {
        wait: "await new Promise((_, reject) => context.signal.addEventListener('abort', () => { stopped += 1; reject(new Error('stopped')); }))",
        stopped: "return stopped",
      },
      "let stopped = 0;",
      { times },
    );
    expect(await call("wait")).toEqual({
      text: "`pdf:wait` failed: the call was stopped, because it timed out after 0.7 s.",
      isError: true,
    });
    const controller = new AbortController();
    const waiting = call("wait", {}, { signal: controller.signal });
    controller.abort();
    expect((await waiting).text).toContain("the run was stopped");
    expect(await call("stopped")).toEqual({ text: "2", isError: false });
  });

  test("is ended with its process where the tool does not stop", async () => {
    const { call } = await openModule(
      { wait: "await new Promise(() => {})", loop: "for (;;);", count: COUNT },
      COUNTING,
      {
        times,
      },
    );
    for (const tool of ["wait", "loop"]) {
      expect(await call("count")).toEqual({ text: "1", isError: false });
      expect(await call(tool)).toEqual({
        text: `\`pdf:${tool}\` failed: the call was stopped, because it timed out after 0.7 s.`,
        isError: true,
      });
    }
    expect(await call("count")).toEqual({ text: "1", isError: false });
  });

  test("before it was made is not made", async () => {
    const { call } = await openModule({ count: "await null; return ++calls" }, COUNTING);
    expect((await call("count", {}, { signal: AbortSignal.abort() })).isError).toBe(true);
  });
});

test("closing ends the process and everything it started", async () => {
  const mark = "86123.5";
  const opened = await openModule(
    { start: `spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore" }).unref(); return 1` },
    'import { spawn } from "node:child_process";',
  );
  await opened.call("start");
  await until("the child runs", () => processesWith(mark).length > 0);
  await opened.close();
  await until("the child is gone", () => processesWith(mark).length === 0);
  expect((await opened.call("start")).text).toBe("`pdf:start` was not called: the run has ended.");
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
