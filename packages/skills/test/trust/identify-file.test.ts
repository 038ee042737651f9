import { execFileSync } from "node:child_process";
import { appendFileSync, renameSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { identifyFile } from "../../src/trust/content-identity.ts";

/** Runs once, right before the first read: the moment between stamp and digest. */
let beforeRead: (() => void) | undefined;

vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs")>();
  const readSync = (descriptor: number, buffer: NodeJS.ArrayBufferView): number => {
    const interfere = beforeRead;
    beforeRead = undefined;
    interfere?.();
    return real.readSync(descriptor, buffer);
  };
  return { ...real, readSync };
});

afterEach(() => {
  beforeRead = undefined;
});

function makeFile(): string {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "as it was");
  utimesSync(file, 1_000, 1_000); // Long ago: coarse clocks must not hide the change.
  return file;
}

function codeOf(file: string): string | undefined {
  const outcome = identifyFile({ path: "file", file, kind: "file" }, 1_000);
  return outcome.ok ? undefined : outcome.refusal.code;
}

test("a file left alone is identified", () => {
  expect(codeOf(makeFile())).toBeUndefined();
});

test.each([
  ["rewritten at the same length", (file: string) => writeFileSync(file, "as it is!")],
  ["appended to", (file: string) => appendFileSync(file, "more")],
  ["cut short", (file: string) => truncateSync(file, 2)],
])("a file that is %s between stamp and digest has no identity", (_, change) => {
  const file = makeFile();
  beforeRead = () => change(file);
  expect(codeOf(file)).toBe("identity.unstable");
});

test("a file swapped for another is never given the other's digest", () => {
  const file = makeFile();
  beforeRead = () => {
    renameSync(file, `${file}.old`);
    writeFileSync(file, "quite another");
  };
  const outcome = identifyFile({ path: "file", file, kind: "file" }, 1_000);
  // Where a rename counts as a change of the file, there is no answer, which is as safe.
  expect(outcome.ok ? outcome.value.digest : "none").toBeOneOf([digestBytes("as it was"), "none"]);
});

test("a link that took the file's place after the listing is not followed", () => {
  const file = makeFile();
  renameSync(file, `${file}.old`);
  symlinkSync(`${file}.old`, file);
  expect(codeOf(file)).toBe("identity.unreadable");
});

test.runIf(process.platform !== "win32")("a FIFO that took the file's place does not block", () => {
  const fifo = join(temporaryFolder(), "file");
  execFileSync("mkfifo", [fifo]);
  expect(codeOf(fifo)).toBe("identity.unstable");
});
