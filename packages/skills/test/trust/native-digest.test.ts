/** A Node that refuses digests, or whose functions of that name are others: the C code says nothing then, or nothing false. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fipsOnly } from "../../../../test/support/fips-only.ts";
import { ROOT } from "../../../../test/support/repository.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";

const ADDON = join(ROOT, `packages/metier/dist/native/threads-${process.platform}-${process.arch}.node`);
const isBuilt = existsSync(ADDON);

test.runIf(process.env.METIER_REQUIRE_NATIVE === "1")("the build made the C code that digests", () => {
  expect(isBuilt).toBe(true);
});

const SOURCES = join(import.meta.dirname, "../../native");
const HEADERS = join(dirname(process.execPath), "../include/node");

/** What the C code answers in a Node of its own, each as a text. */
const PROGRAM = `
  const [addon, folder, refuses] = process.argv.slice(1);
  const module = { exports: {} };
  process.dlopen(module, addon);
  const { sha256, identifyFolder, unpackObject } = module.exports;
  const packed = require("node:zlib").deflateSync(Buffer.from("text"));
  if (refuses) {
    sha256(packed);
    unpackObject(packed, 3, Buffer.alloc(44));
    crypto.setFips(true);
  }
  const room = Buffer.alloc(44);
  const [digest, lines] = [sha256?.(Buffer.from("text")), identifyFolder?.(folder, 9, 99)];
  const length = unpackObject?.(packed, 3, room);
  let fault = "";
  try {
    crypto.createPrivateKey("none");
  } catch (thrown) {
    fault = thrown.opensslErrorStack?.join() ?? thrown.message;
  }
  process.stdout.write(JSON.stringify({ digest, lines, length, used: packed.length, id: room.toString("hex", 0, 20), fault }));
`;

interface Answers {
  readonly digest?: string;
  readonly lines?: string;
  readonly length?: number;
  /** How many bytes the object has, packed. */
  readonly used: number;
  readonly id: string;
  /** What Node says next of something else. */
  readonly fault: string;
}

function askAddon(addon: string, env: NodeJS.ProcessEnv = {}, ...more: readonly string[]): Answers {
  const folder = temporaryFolder();
  writeTree(folder, { "SKILL.md": "text" });
  const { stdout, stderr } = spawnSync(process.execPath, ["--eval", PROGRAM, addon, folder, ...more], {
    encoding: "utf8",
    env,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Answers;
}

const DIGEST = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";

test.skipIf(!isBuilt)("a usual Node has digests", () => {
  const { digest, lines, length, used, id } = askAddon(ADDON);
  expect(digest).toBe(DIGEST);
  expect(lines).toContain(`\t${DIGEST}\tSKILL.md\n`);
  expect([length, id]).toEqual([used, "f3a34851d44d6b97c90fbb99dd3d18c261b9a237"]);
});

function expectNone({ digest, lines, length, id }: Answers): void {
  expect([digest, lines, length, id]).toEqual([undefined, undefined, -1, "0".repeat(40)]);
}

test.skipIf(!isBuilt)("where OpenSSL refuses digests from the start, there is none", () => {
  expectNone(askAddon(ADDON, fipsOnly()));
});

test.skipIf(!isBuilt)("where OpenSSL refuses them later, there is none, and Node does not hear of it", () => {
  const answers = askAddon(ADDON, {}, "refuses");
  expectNone(answers);
  expect(answers.fault).not.toContain("digital envelope routines");
});

test.skipIf(!isBuilt)("functions of the same names that do something else are not used", () => {
  const folder = temporaryFolder();
  const wrong = ["SHA1", "SHA256"].map(
    (name) =>
      `unsigned char *${name}(const unsigned char *bytes, unsigned long length, unsigned char *to) { (void)bytes; *to = (unsigned char)length; return to; }\n`,
  );
  writeTree(folder, { "wrong.c": wrong.join("") });
  const sources = readdirSync(SOURCES).filter((name) => name.endsWith(".c"));
  const addon = join(folder, "wrong.node");
  const flags = ["-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden"];
  const files = [join(folder, "wrong.c"), ...sources.map((name) => join(SOURCES, name))];
  const compiled = spawnSync("cc", [...flags, "-isystem", HEADERS, "-o", addon, ...files], {
    encoding: "utf8",
  });
  expect(compiled.stderr).toBe("");
  expectNone(askAddon(addon));
});
