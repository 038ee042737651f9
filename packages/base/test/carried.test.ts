import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { layOutCarried } from "../src/files/carried.ts";

const pack = (files: Readonly<Record<string, string>>): string =>
  brotliCompressSync(JSON.stringify(files)).toString("base64");

const CARRIED = pack({ "a.txt": "é", "below/b.txt": "two" });

test("[L2] carried files are laid out once, by what they are", () => {
  const cache = temporaryFolder();
  const folder = layOutCarried("skills", CARRIED, cache);
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("é");
  expect(readFileSync(join(folder, "below/b.txt"), "utf8")).toBe("two");
  expect(layOutCarried("skills", CARRIED, cache)).toBe(folder);
  expect(layOutCarried("skills", pack({ "a.txt": "other" }), cache)).not.toBe(folder);
  expect(readdirSync(join(cache, "carried"))).toHaveLength(2);
});

test("[L2] what was changed, removed or added there is not used", () => {
  const cache = temporaryFolder();
  const folder = layOutCarried("skills", CARRIED, cache);
  const faults = [
    () => writeFileSync(join(folder, "a.txt"), "changed"),
    () => rmSync(join(folder, "below"), { recursive: true }),
    () => writeFileSync(join(folder, "below/more.txt"), "more"),
    () => chmodSync(folder, 0o777),
  ];
  for (const makeFault of faults) {
    makeFault();
    expect(layOutCarried("skills", CARRIED, cache)).toBe(folder);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("é");
    expect(readdirSync(join(folder, "below"))).toEqual(["b.txt"]);
  }
});

test("[L2] where the cache cannot be written to, or others can, it is a temporary folder of this process", () => {
  const home = temporaryFolder();
  const temporary = temporaryFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const blocked = join(home, "file");
  writeFileSync(blocked, "");
  const folder = layOutCarried("skills", CARRIED, blocked);
  expect(folder.startsWith(temporary)).toBe(true);
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("é");
  expect(layOutCarried("skills", CARRIED, blocked)).toBe(folder);
  const shared = join(home, "shared");
  mkdirSync(join(shared, "carried"), { recursive: true });
  chmodSync(join(shared, "carried"), 0o777);
  expect(layOutCarried("skills", CARRIED, shared)).toBe(folder);
});

test("[L2] where nothing can be laid out, the message names the settings of the bundlers", () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "file"), "");
  vi.stubEnv("TMPDIR", join(home, "file"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const hint = expect.stringMatching(
    /`home`.*--external:metier.*externals.*ssr\.external.*serverExternalPackages/,
  );
  const carried = pack({ "c.txt": "never laid out" });
  expect(() => layOutCarried("skills", carried, join(home, "file"))).toThrow(
    expect.objectContaining({ code: "package.incomplete", hint }),
  );
  expect(() => layOutCarried("skills", undefined, home)).toThrow(
    expect.objectContaining({ code: "package.incomplete", hint }),
  );
});
