import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { LineInput } from "../src/context.ts";
import { createLineEditor } from "../src/editor/line-editor.ts";

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

test("names that Tab lists cannot steer the terminal", async () => {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  const choices = ["/a\u001b[31mx", "/b\u0007"];
  const typed = createLineEditor(input, output).read("> ", [], async () => ({ from: 0, choices }));
  input.write("/");
  await new Promise(setImmediate);
  input.write("\t");
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  input.write("\r");
  await typed;
  const written = String(output.read());
  expect(written).toContain("/a\ufffd[31mx");
  expect(written).not.toContain("\u001b[31m");
  expect(written).not.toContain("\u0007");
});

test("Ctrl-C and Ctrl-D are told from lines", async () => {
  expect(await type("half\u0003", "\u0004")).toEqual([{ kind: "interrupt", text: "half" }, { kind: "end" }]);
});

test("after Ctrl-L nothing is cleared from the first place of the screen, which terminals would save", async () => {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  const line = createLineEditor(input, output).read("> ", []);
  input.write("\u000cab\r");
  await line;
  const written = (output.read() as string).split("\u001b[H\u001b[2J").at(-1) ?? "";
  expect(written).toContain("> ab");
  expect(written).not.toMatch(/(?:^|\r)\u001b\[J/);
});

test("a narrower terminal: what was drawn takes more rows, and is drawn over", async () => {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough({ encoding: "utf8" }), { columns: 80, rows: 24 });
  const line = createLineEditor(input, output).read("> ", []);
  input.write("y".repeat(100));
  await new Promise(setImmediate);
  output.read();
  output.columns = 40;
  output.emit("resize");
  // Rows of 79 and 25 columns: the first one takes two now.
  expect(output.read()).toMatch(/^\u001b\[2A\r\u001b\[J/);
  input.write("\r");
  await line;
});

test("Ctrl-Z stops the process with the terminal as it was, and goes on with what was typed", async () => {
  const input = new PassThrough();
  let stops = 0;
  const editor = createLineEditor(input, new PassThrough().resume(), () => {
    stops += 1;
  });
  const line = editor.read("> ", []);
  input.write("half\u001a");
  await expect.poll(() => stops).toBe(1);
  input.write(" whole\r");
  expect(await line).toEqual({ kind: "line", text: "half whole" });
  expect(stops).toBe(1);
});
