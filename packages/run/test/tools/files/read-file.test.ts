import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { smallWorld } from "./small-world.ts";

describe("read_file gives", () => {
  test("a small file as it is, with its mark, line ends and last line", async () => {
    const { text } = smallWorld({ "a.txt": "\ufeffone\r\ntwo\nthree" });
    expect(await text("read_file", { path: "a.txt" })).toBe("\ufeffone\r\ntwo\nthree");
  });

  test("a file by its absolute path", async () => {
    const { project, text } = smallWorld({ "a.txt": "text" });
    expect(await text("read_file", { path: join(project, "a.txt") })).toBe("text");
  });

  test("a range, and with which offset to read on", async () => {
    const { text } = smallWorld({ "a.txt": "1\n2\n3\n4\n5\n" });
    expect(await text("read_file", { path: "a.txt", limit: 2 })).toBe(
      "[lines 1-2 of a file of 10 bytes; read on with offset 3]\n1\n2\n",
    );
    expect(await text("read_file", { path: "a.txt", offset: 3, limit: 1 })).toBe(
      "[line 3 of a file of 10 bytes; read on with offset 4]\n3\n",
    );
    expect(await text("read_file", { path: "a.txt", offset: 4, limit: 2 })).toBe(
      "[lines 4-5 of a file of 10 bytes; the file ends here]\n4\n5\n",
    );
  });

  test("at most 2000 lines unless more are asked for", async () => {
    const { text } = smallWorld({ "a.txt": "x\n".repeat(2001) });
    expect(await text("read_file", { path: "a.txt" })).toMatch(
      /^\[lines 1-2000 .*; read on with offset 2001\]\n/,
    );
    expect(await text("read_file", { path: "a.txt", limit: 2001 })).toBe("x\n".repeat(2001));
  });

  test("as many lines as fit, and the rest on the next call", async () => {
    const line = `${"é".repeat(15_000)}\n`;
    const { text } = smallWorld({ "a.txt": line.repeat(5) });
    expect(await text("read_file", { path: "a.txt" })).toBe(
      `[lines 1-3 of a file of 150005 bytes; read on with offset 4]\n${line.repeat(3)}`,
    );
    expect(await text("read_file", { path: "a.txt", offset: 4 })).toBe(
      `[lines 4-5 of a file of 150005 bytes; the file ends here]\n${line.repeat(2)}`,
    );
  });

  test("the beginning of a line that is too long, never half a character, and the way on", async () => {
    const { text } = smallWorld({ "a.txt": `x${"é".repeat(60_000)}\nnext\n`, "b.txt": "y".repeat(200_000) });
    const [header, line = ""] = (await text("read_file", { path: "a.txt" })).split("\n");
    expect(header).toBe(
      "[line 1 of a file of 120007 bytes; the line is longer than 100000 bytes and was cut; read on with offset 2]",
    );
    expect(line).toBe(`x${"é".repeat(49_999)}`);
    expect(await text("read_file", { path: "b.txt" })).toContain("was cut; the file ends here]");
  });

  test("a line far into a large file", async () => {
    const { text } = smallWorld({ "a.txt": `${"some words\n".repeat(200_000)}here\n` });
    expect(await text("read_file", { path: "a.txt", offset: 200_001 })).toBe(
      "[line 200001 of a file of 2200005 bytes; the file ends here]\nhere\n",
    );
  });

  test("a note for an empty file", async () => {
    const { text } = smallWorld({ "a.txt": "" });
    expect(await text("read_file", { path: "a.txt" })).toBe("[a.txt is empty]");
  });

  test("text in an old encoding as far as it can be read", async () => {
    const { text } = smallWorld({ "a.txt": Buffer.from("caf\xe9\n", "latin1") });
    expect(await text("read_file", { path: "a.txt" })).toBe("[not UTF-8: � stands for what is none]\ncaf�\n");
  });

  test("ranges that are the file when they are put together", async () => {
    const line = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\r", "x".repeat(60_000)));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 5 }), async (lines, limit) => {
        const content = Buffer.from(lines.join("\n").replaceAll("\0", "").toWellFormed()).toString();
        const { call } = smallWorld({ "a.txt": content });
        let whole = "";
        let offset: number | undefined = 1;
        while (offset !== undefined) {
          const { text, isError } = await call("read_file", { path: "a.txt", offset, limit });
          expect(isError).toBe(false);
          if (content === "") return;
          const [, header, last, next] =
            /^(\[lines? (?:\d+-)?(\d+) of a file of \d+ bytes; (?:the file ends here|read on with offset (\d+))\]\n)/.exec(
              text,
            ) ?? [];
          whole += text.slice(header?.length ?? 0);
          expect(next === undefined || Number(next) === Number(last) + 1).toBe(true);
          offset = next === undefined ? undefined : Number(next);
        }
        expect(whole).toBe(content);
      }),
      { numRuns: 50 },
    );
  });
});

describe("read_file refuses", () => {
  test.each([
    ["binary files, with type and size", "a.png", "`a.png` is not text: image/png, 4 bytes."],
    ["files with NUL bytes", "data", "`data` is not text: application/octet-stream, 3 bytes."],
    [
      "folders, naming the tool for them",
      "folder",
      "`folder` is not a regular file. It is a folder: use `list_files`.",
    ],
    [
      "what does not exist, with near names",
      "redame.md",
      "`redame.md` does not exist. Did you mean `readme.md`?",
    ],
    [
      "what does not exist, naming the tool that lists",
      "zzz/qqq.md",
      "Use `list_files` to see what there is.",
    ],
    ["lines that are not there", "readme.md", "`readme.md` has 1 line; there is no line 9."],
    ["what is outside", "../outside.txt", "`../outside.txt` is outside the folders this run can see"],
    ["what is masked, as if it did not exist", "masked/secret.txt", "`masked/secret.txt` does not exist."],
    ["names of secrets, as if they did not exist", ".env", "`.env` does not exist."],
    ["links that lead out, as if they did not exist", "link.txt", "`link.txt` does not exist."],
  ])("%s", async (_, path, message) => {
    const { root, project, call } = smallWorld({
      "a.png": Buffer.from([0x89, 0x50, 0x4e, 0x47]),
      data: Buffer.from([1, 0, 2]),
      "folder/a.md": "a",
      "readme.md": "one line\n",
      "../outside.txt": "outside",
      "masked/secret.txt": "secret",
      ".env": "SECRET=1",
    });
    symlinkSync(join(root, "outside.txt"), join(project, "link.txt"));
    const { text, isError } = await call("read_file", path === "readme.md" ? { path, offset: 9 } : { path });
    expect(isError).toBe(true);
    expect(text).toContain(message);
  });

  test("to suggest what the run does not see", async () => {
    const { call } = smallWorld({ ".env": "SECRET=1", "masked/secret.txt": "secret" });
    expect((await call("read_file", { path: "maskee" })).text).not.toContain("`masked`");
    expect((await call("read_file", { path: ".enw" })).text).not.toContain("`.env`");
  });
});
