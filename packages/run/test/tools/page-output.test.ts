import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRedactor } from "@metier/sandbox/secrets";
import { describe, expect, test } from "vitest";
import { createRunFolders, type RunFolders } from "../../../../test/support/run-world.ts";
import { createOutputPager, type PagerOptions } from "../../src/tools/page-output.ts";

const SECRET = "hunter2-hunter2";

function open(more: Partial<PagerOptions> = {}) {
  const folders = createRunFolders();
  const redactor = createRedactor([{ name: "KEY", value: SECRET }]);
  const pager = createOutputPager({
    world: folders.world(),
    callId: "call/../1",
    maxCharacters: 100,
    redactStream: () => redactor.stream(),
    ...more,
  });
  return { folders, pager };
}

const fileOf = ({ work }: RunFolders, stream: string): string =>
  join(work, "output", `call----1-${stream}.txt`);

describe("the output of a command", () => {
  test("is kept as it is while it is short, and in no file", () => {
    const { folders, pager } = open();
    pager.take("stdout", Buffer.from("out"));
    pager.take("stderr", Buffer.from("err"));
    expect(pager.end()).toMatchObject({
      stdout: { head: "out", tail: "out", characters: 3 },
      stderr: { head: "err", characters: 3 },
      notes: [],
    });
    expect(existsSync(join(folders.work, "output"))).toBe(false);
  });

  test("is in files as a whole when both streams together are long", () => {
    const { folders, pager } = open();
    const [first, second] = ["a".repeat(60), "b".repeat(60)];
    pager.take("stderr", Buffer.from(first));
    pager.take("stdout", Buffer.from(second));
    pager.take("stdout", Buffer.from(second));
    const { stdout, notes } = pager.end();
    expect(stdout.head).toBe("b".repeat(100));
    expect(stdout.characters).toBe(120);
    expect(readFileSync(fileOf(folders, "stdout"), "utf8")).toBe(second + second);
    expect(readFileSync(fileOf(folders, "stderr"), "utf8")).toBe(first);
    expect(notes.join(" ")).toContain(fileOf(folders, "stdout"));
    expect(notes).toHaveLength(2);
  });

  test("has no secret in it, also one that was written in two parts, nor half of a character", () => {
    const told: string[] = [];
    const { folders, pager } = open({ onText: (stream, text) => void told.push(`${stream}:${text}`) });
    const bytes = Buffer.from(`${"x".repeat(120)} ${SECRET} ä end`);
    for (const byte of bytes) pager.take("stdout", Buffer.from([byte]));
    const { stdout } = pager.end();
    const expected = `${"x".repeat(120)} [redacted:KEY] ä end`;
    expect(stdout.tail.endsWith(" [redacted:KEY] ä end")).toBe(true);
    expect(readFileSync(fileOf(folders, "stdout"), "utf8")).toBe(expected);
    expect(told.map((piece) => piece.replace("stdout:", "")).join("")).toBe(expected);
  });

  test("replaces what a command has put in the place of its file, and follows no link", () => {
    const { folders, pager } = open();
    const outside = join(folders.root, "outside.txt");
    writeFileSync(outside, "untouched");
    mkdirSync(join(folders.work, "output"));
    symlinkSync(outside, fileOf(folders, "stdout"));
    pager.take("stdout", Buffer.from("y".repeat(200)));
    expect(pager.end().notes[0]).toContain("all of stdout is in");
    expect(readFileSync(outside, "utf8")).toBe("untouched");
  });

  test("is said to be lost when its folder leads out of the work folder", () => {
    const { folders, pager } = open();
    symlinkSync(folders.project, join(folders.work, "output"));
    pager.take("stdout", Buffer.from("y".repeat(200)));
    expect(pager.end().notes[0]).toMatch(/could not be kept: /);
    expect(existsSync(join(folders.project, "call----1-stdout.txt"))).toBe(false);
  });
});
