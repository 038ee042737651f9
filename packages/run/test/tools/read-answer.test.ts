/** What a model reads of whatever a tool of the program returned. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { MAX_ANSWER, readAnswer } from "../../src/tools/read-answer.ts";
import { showJson } from "../../src/tools/show-json.ts";

const { signal } = new AbortController();
const read = (given: unknown) => readAnswer("look", given, signal);
const text = async (given: unknown): Promise<string> => {
  const { text: shown, isError } = await read(given);
  expect(isError).toBe(false);
  return shown;
};

describe("[L7] an answer of a tool", () => {
  test("is a text as it is, and says so when it is nothing", async () => {
    expect(await text("plain")).toBe("plain");
    expect(await text("")).toBe("");
    expect(await text(undefined)).toBe("`look` finished. It returned nothing.");
    expect(await text(null)).toBe("null");
  });

  test("is JSON for other values, also for those that JSON does not have", async () => {
    expect(await text({ a: [1, "x", true, null], b: undefined, c: () => 1 })).toBe('{"a":[1,"x",true,null]}');
    expect(await text(42)).toBe("42");
    expect(await text(12345678901234567890n)).toBe("12345678901234567890");
    expect(await text({ big: 2n ** 70n, nan: Number.NaN })).toBe(
      '{"big":"1180591620717411303424","nan":"NaN"}',
    );
    expect(await text(new Map([["a", new Set([1, 2])]]))).toBe('{"a":[1,2]}');
    expect(await text(new Map([[1, "x"]]))).toBe('[[1,"x"]]');
    expect(await text({ at: new Date(0), bad: new Error("no") })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","bad":{"name":"Error","message":"no"}}',
    );
    expect(await text(new Float32Array([1, 2]))).toBe("[1,2]");
    expect(await text({ raw: Buffer.from("x") })).toBe('{"raw":"[binary data: 1 byte]"}');
    expect(await text([1, undefined, Symbol("x")])).toBe("[1,null,null]");
  });

  test("is not stopped by a circle, a getter that throws or a `toJSON` that gives itself", async () => {
    const circle: Record<string, unknown> = { name: "a" };
    circle.self = circle;
    circle.twice = [circle, { circle }];
    expect(await text(circle)).toBe(
      '{"name":"a","self":"[circular]","twice":["[circular]",{"circle":"[circular]"}]}',
    );
    const shared = { x: 1 };
    expect(await text([shared, shared])).toBe('[{"x":1},{"x":1}]');
    const broken = {
      get a(): never {
        throw new Error("gone");
      },
      b: 1,
    };
    expect(await text(broken)).toBe('{"a":"[cannot be read: gone]","b":1}');
    const own = { toJSON: () => own, a: 1 };
    expect(await text(own)).toBe('{"a":1}');
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(await text(deep)).toContain("[nested too deeply]");
  });

  test("is bytes as text where they are UTF-8, and otherwise how many there are", async () => {
    expect(await text(Buffer.from("Grüße"))).toBe("Grüße");
    expect(await text(new TextEncoder().encode("héllo").buffer)).toBe("héllo");
    expect(await text(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]))).toBe("[binary data: 5 bytes]");
    expect(await text(Buffer.from("a\0b"))).toBe("[binary data: 3 bytes]");
    expect(await text(new Blob(["from a blob"]))).toBe("from a blob");
  });

  test("is what a stream gives: texts, bytes cut anywhere, and values as lines", async () => {
    const euro = Buffer.from("12 €");
    const bytes = new ReadableStream({
      start(controller) {
        for (const byte of euro) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await text(bytes)).toBe("12 €");
    expect(await text(Readable.from(["one ", "two"]))).toBe("one two");
    async function* rows() {
      yield { id: 1 };
      yield { id: 2 };
    }
    expect(await text(rows())).toBe('{"id":1}\n{"id":2}\n');
    const bare = { getReader: () => new Response("read by hand").body?.getReader() };
    expect(await text(bare)).toBe("read by hand");
  });

  test("is an error where it says so", async () => {
    expect(await read({ text: "no such order", isError: true })).toEqual({
      text: "no such order",
      isError: true,
    });
    expect(await read({ text: "data", isError: false, more: 1 })).toEqual({ text: "data", isError: false });
    expect(await text({ text: "a field" })).toBe('{"text":"a field"}');
    expect(await read(new Error("closed"))).toEqual({ text: "`look` failed: closed", isError: true });
    expect(await read({ isError: true, code: 7 })).toEqual({
      text: '{"isError":true,"code":7}',
      isError: true,
    });
    expect(await read(new Response("gone", { status: 404, statusText: "Not Found" }))).toEqual({
      text: "HTTP 404 Not Found\ngone",
      isError: true,
    });
    expect(await text(Response.json({ ok: 1 }))).toBe('{"ok":1}');
    async function* failing() {
      yield "some";
      throw new Error("the line broke");
    }
    await expect(read(failing())).rejects.toThrow("the line broke");
  });

  test("is bounded, and an endless stream is told to end", async () => {
    let isEnded = false;
    async function* endless() {
      try {
        while (true) yield "x".repeat(10_000);
      } finally {
        isEnded = true;
      }
    }
    const stream = await text(endless());
    expect(stream.length).toBeLessThanOrEqual(MAX_ANSWER);
    expect(stream).toMatch(/x\n\[cut: the rest of the stream was not read\]$/);
    expect(isEnded).toBe(true);
    const list = await text(Array.from({ length: 1_000_000 }, (_, index) => ({ index })));
    expect(list.length).toBeLessThanOrEqual(MAX_ANSWER);
    expect(list).toMatch(/\[cut: the value has more than \d+ characters\]$/);
    expect((await text(Buffer.alloc(3_000_000, "y"))).length).toBeLessThanOrEqual(MAX_ANSWER);
    expect(showJson("z".repeat(1000), 10)).toEqual({ text: '"zzzzzzzzz', isCut: true });
  });

  test("does not wait for a stream that says nothing, once the run is stopped", async () => {
    const stop = new AbortController();
    async function* silent() {
      yield "first";
      await new Promise(() => undefined);
    }
    const reading = readAnswer("look", silent(), stop.signal);
    setTimeout(() => stop.abort(), 10);
    expect((await reading).text).toBe("first\n[the run was stopped before the stream ended]");
  });
});
