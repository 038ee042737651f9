import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createLineEditor } from "../../../src/cli/chat/line-editor.ts";
import type { LineInput } from "../../../src/cli/context.ts";

/** What the editor makes of keys, one read for each list of them. */
async function type(...reads: readonly string[]): Promise<readonly LineInput[]> {
  const input = new PassThrough();
  const editor = createLineEditor(input, new PassThrough().resume());
  const typed: LineInput[] = [];
  for (const keys of reads) {
    const line = editor.read("> ", ["newest", "oldest"]);
    input.write(keys);
    typed.push(await line);
  }
  return typed;
}

test("a line is what was typed, one after the other", async () => {
  expect(await type("hello\r", "again\r")).toEqual([
    { kind: "line", text: "hello" },
    { kind: "line", text: "again" },
  ]);
});

test("the history is reached with the arrows, newest first", async () => {
  expect(await type("\u001b[A\r", "\u001b[A\u001b[A\r")).toEqual([
    { kind: "line", text: "newest" },
    { kind: "line", text: "oldest" },
  ]);
});

test("pasted lines are one message, also when the last one has no end yet", async () => {
  expect(await type("a\rb\rc\r")).toEqual([{ kind: "line", text: "a\nb\nc" }]);
  const input = new PassThrough();
  const line = createLineEditor(input, new PassThrough().resume()).read("> ", []);
  input.write("a\rb");
  await new Promise(setImmediate);
  input.write("c\r");
  expect(await line).toEqual({ kind: "line", text: "a\nbc" });
});

test("Ctrl-C and Ctrl-D are told from lines", async () => {
  expect(await type("half\u0003", "\u0004")).toEqual([{ kind: "interrupt", text: "half" }, { kind: "end" }]);
});
