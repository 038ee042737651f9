/** The native thread, compiled with checks of every access to memory and every number, over files of any content. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { nativeThreads } from "./native-threads.ts";

const SOURCES = join(import.meta.dirname, "../../native");
const HEADERS = join(dirname(process.execPath), "../include/node");
const PIECES = [
  ...["---\n", "name: a\n", "description: b\n", "---", "\n\n", "Text. ", "# x\n", "\r\n", "\0"],
  ...["é", "三", "🙂", "\u00a0", "\u2028", "\ufeff", "\xff", "x".repeat(5000)],
];
/** Takes every batch in turn, some twice and some never, leaves some threads at work, and checks indexes with any bytes. */
const PROGRAM = `
  const [addon, root] = process.argv.slice(1);
  const module = { exports: {} };
  process.dlopen(module, addon);
  const { readAhead, takeBatch, checkStamps, areUnchanged } = module.exports;
  const names = require("node:fs").readdirSync(root);
  const list = names.map((name) => name + "\\0").join("");
  let length = 0;
  for (let round = 0; round < 8; round++) {
    const fetching = readAhead(root, list, ".git\\0", true);
    for (let batch = round; batch < names.length / 32 + 2; batch += 1 + (round % 3)) {
      length += takeBatch(fetching, batch).join("").length;
      takeBatch(fetching, batch);
    }
    readAhead(root, list, "", false);
  }
  const lines = names.flatMap((name) => ["/" + name + "/", "1:2:3", "{}"]).join("\\n");
  for (const text of [lines, lines + "\\n", "\\n\\n\\n", "/", "", "/\\0\\n1\\n2\\n"]) {
    const bytes = new TextEncoder().encode(text).buffer;
    if (text !== "") checkStamps(root, bytes, 0, bytes.byteLength, Date.now());
    areUnchanged(checkStamps(root, bytes, 0, bytes.byteLength, Date.now()));
  }
  const { openMaker, addBatch, closeMaker } = module.exports;
  const number = (value) => [0, 8, 16, 24].map((shift) => (value >>> shift) & 255);
  const entry = (kind, path, content) =>
    [...number(kind), ...number(420), ...number(path.length), ...number(content.length), ...Buffer.from(path + "\\0" + content + "\\0")];
  const batch = (folder) => Uint8Array.from([
    ...entry(0, root + folder, ""),
    ...entry(1, root + folder + "/file", "text".repeat(9)),
    ...entry(2, root + folder + "/link", "file"),
  ]);
  const give = (bytes, length) => {
    const maker = openMaker(() => undefined);
    addBatch(maker, bytes, length);
    addBatch(maker, bytes, length);
    closeMaker(maker);
    addBatch(maker, bytes, length);
    closeMaker(maker);
  };
  const told = [];
  const maker = openMaker((...answer) => told.push(answer));
  addBatch(maker, batch("/made"), batch("/made").length);
  for (let length = 0; length <= batch("/m0").length; length++) give(batch("/m" + length), length);
  for (let at = 0; at < batch("/n0").length; at++)
    for (const value of [0, 1, 255]) give(batch("/n" + at + value).with(at, value), batch("/n" + at + value).length);
  const { unpackObject } = module.exports;
  const text = Buffer.from("some text ".repeat(50));
  const packed = require("node:zlib").deflateSync(text);
  for (let kind = 0; kind <= 4; kind++) {
    for (let cut = 0; cut <= packed.length; cut++) unpackObject(packed.subarray(0, cut), kind, Buffer.alloc(540));
    for (let room = 0; room < 600; room++) unpackObject(packed, kind, Buffer.alloc(room));
    for (let at = 0; at < packed.length; at++)
      for (const value of [0, 1, 127, 255]) unpackObject(Uint8Array.from(packed).with(at, value), kind, Buffer.alloc(540));
  }
  for (let from = 0; from <= text.length; from++) module.exports.sha256(text.subarray(from));
  for (const name of ["", "/s0", "/s1", "/s7", "/s11/link", "/missing"])
    for (const [entries, bytes] of [[0, 0], [1, 1], [20, 1000], [9000, 1e9], [-1, 5], [5, -1]])
      module.exports.identifyFolder(root + name, entries, bytes);
  for (const call of Object.values(module.exports)) for (const args of [[], [1], [{}, 2], ["", "", "", ""]]) call(...args);
  setTimeout(() => {
    closeMaker(maker);
    process.stdout.write("read " + length + ", made " + JSON.stringify(told));
  }, 200);
`;

test.skipIf(nativeThreads.length === 0)("no access of the native thread leaves its memory", () => {
  const folder = temporaryFolder();
  const root = join(folder, "skills");
  mkdirSync(root);
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let number = 0; number < 300; number++) {
    const text = Array.from({ length: random(12) }, () => PIECES[random(PIECES.length)]).join("");
    const content = number % 3 ? `---\nname: a\n${text}---\n${text}` : text;
    writeTree(root, { [`s${number}/SKILL.md`]: Buffer.from(content, number % 5 ? "utf8" : "latin1") });
    if (number % 7 === 0) writeTree(root, { [`s${number}/a/b/c/d/e/f/SKILL.md`]: "" });
    if (number % 11 === 0) symlinkSync("SKILL.md", join(root, `s${number}`, "link"));
  }
  for (let number = 0; number < 5000; number++) writeFileSync(join(root, "s1", `file-${number}`), "");
  const addon = join(folder, "checked.node");
  const files = readdirSync(SOURCES).filter((name) => name.endsWith(".c"));
  const flags = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fPIC", "-shared", "-pthread"];
  const checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  const compiled = spawnSync(
    "cc",
    [...flags, ...checks, "-isystem", HEADERS, "-o", addon, ...files.map((name) => join(SOURCES, name))],
    { encoding: "utf8" },
  );
  expect(compiled.stderr).toBe("");
  const libraries = ["libasan.so", "libubsan.so"].map((name) =>
    spawnSync("cc", [`-print-file-name=${name}`], { encoding: "utf8" }).stdout.trim(),
  );
  expect(libraries.filter((library) => !existsSync(library))).toEqual([]);
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--eval", PROGRAM, addon, root], {
    encoding: "utf8",
    env: { LD_PRELOAD: libraries.join(" "), ASAN_OPTIONS: "detect_leaks=0" },
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  const [, length, made] = /^read (\d+), made (.*)$/.exec(stdout) ?? [];
  expect(Number(length)).toBeGreaterThan(10_000);
  expect(made).toBe('[[1,true,0,"","",""]]');
  expect(readFileSync(join(root, "made/link"), "utf8")).toBe("text".repeat(9));
});
