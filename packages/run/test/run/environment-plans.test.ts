import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { nodeRegistry } from "@metier/install";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import {
  type EnvironmentPlan,
  readNodePlan,
  readPythonPlan,
} from "../../src/run/packages/environment-plan.ts";
import { findForeignPackage, pythonIndex } from "../../src/run/packages/installation.ts";

const INTEGRITY = `sha512-${"A".repeat(86)}==`;
const ENTRY = {
  version: "1.0.0",
  resolved: "https://usual.example.org/a/-/a-1.0.0.tgz",
  integrity: INTEGRITY,
};

function readNode(packages: unknown, manifest: unknown = { dependencies: { a: "1.0.0" } }): unknown {
  return readFiles(readNodePlan, {
    "package.json": JSON.stringify(manifest),
    "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }),
  });
}

function readFiles(read: typeof readNodePlan, files: Readonly<Record<string, string>>): unknown {
  const folder = temporaryFolder();
  writeTree(folder, files);
  const reading = read(folder);
  return reading.ok ? reading.value : reading.refusal;
}

describe("a package-lock.json", () => {
  test("names what is fetched, without what is for development or comes with another package", () => {
    const plan = readNode({
      "": {},
      "node_modules/a": ENTRY,
      "node_modules/a/node_modules/@b/c": {
        ...ENTRY,
        resolved: "https://usual.example.org/@b/c/-/c-2.0.0.tgz",
      },
      "node_modules/dev": { version: "1.0.0", dev: true, resolved: "git+ssh://git@example.com/dev.git" },
      "node_modules/plain": { version: "1.0.0-rc.1", integrity: INTEGRITY },
      "node_modules/a/node_modules/inner": { version: "1.0.0", inBundle: true },
    });
    expect(plan).toMatchObject({
      kind: "node",
      lock: "package-lock.json",
      packages: [
        { name: "a" },
        { name: "@b/c", url: "https://usual.example.org/@b/c/-/c-2.0.0.tgz" },
        { name: "plain" },
      ],
    });
  });

  test.each<[what: string, entries: Record<string, unknown>, says: string]>([
    ["git", { "node_modules/a": { ...ENTRY, resolved: "git+ssh://git@example.com/a.git#0a1b" } }, "git+ssh:"],
    ["a file", { "node_modules/a": { ...ENTRY, resolved: "file:../a.tgz" } }, "file:"],
    [
      "a link",
      { "node_modules/a": { resolved: "lib", link: true }, lib: { version: "1.0.0" } },
      "is a folder",
    ],
    ["a workspace", { lib: { version: "1.0.0" } }, "is a folder"],
    ["a path that climbs", { "node_modules/../../x": ENTRY }, "is a folder"],
    ["no version", { "node_modules/a": { integrity: INTEGRITY } }, "neither a URL nor"],
    [
      "an address for a version",
      { "node_modules/a": { version: "git+https://example.com/a.git", integrity: INTEGRITY } },
      "neither a URL nor",
    ],
    [
      "an address for a name",
      { "node_modules/a": { name: "a@https://example.com/a.tgz", version: "1.0.0", integrity: INTEGRITY } },
      "neither a URL nor",
    ],
    ["an address that is no text", { "node_modules/a": { ...ENTRY, resolved: true } }, "not a registry URL"],
    ["no digest", { "node_modules/a": { ...ENTRY, integrity: undefined } }, "no `integrity`"],
    ["a weak digest", { "node_modules/a": { ...ENTRY, integrity: "sha1-AAAA" } }, "no `integrity`"],
    ["no object", { "node_modules/a": "1.0.0" }, "is not an object"],
  ])("with %s is refused", (_what, entries, says) => {
    expect(readNode(entries)).toMatchObject({
      code: "environment.source",
      message: expect.stringContaining(says),
    });
  });

  test("that is missing, old or broken is said with the command that makes one", () => {
    const manifest = '{"dependencies": {"a": "^1.0.0"}}';
    for (const files of [
      { "package.json": manifest },
      { "package.json": manifest, "package-lock.json": "{" },
      { "package.json": manifest, "package-lock.json": '{"lockfileVersion": 1, "dependencies": {}}' },
      { "package.json": "[]" },
    ]) {
      expect(readFiles(readNodePlan, files)).toMatchObject({
        code: "environment.unlocked",
        hint: expect.stringContaining("npm install --package-lock-only"),
      });
    }
  });

  test("is not asked for where no package is wanted, or the skill brings them along", () => {
    expect(readFiles(readNodePlan, {})).toBeUndefined();
    expect(readFiles(readNodePlan, { "package.json": '{"type": "module"}' })).toBeUndefined();
    expect(readFiles(readNodePlan, { "package.json": '{"devDependencies": {"a": "1"}}' })).toBeUndefined();
    const brought = { "package.json": '{"dependencies": {"a": "1"}}', "node_modules/a/index.js": "" };
    expect(readFiles(readNodePlan, brought)).toBeUndefined();
  });

  test("is not read through a link that leads out of the skill", () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    writeTree(outside, { "package-lock.json": JSON.stringify({ packages: { "node_modules/a": ENTRY } }) });
    writeTree(folder, { "package.json": '{"dependencies": {"a": "1.0.0"}}' });
    symlinkSync(join(outside, "package-lock.json"), join(folder, "package-lock.json"));
    expect(readNodePlan(folder)).toMatchObject({ ok: false, refusal: { code: "environment.unlocked" } });
  });
});

describe("a requirements file", () => {
  test("is given to the installer line by line, without comments", () => {
    const hash = `--hash=sha256:${"0".repeat(64)}`;
    const text = [
      "# made by a tool",
      "requests==2.32.0 \\",
      `    ${hash} \\`,
      `    ${hash}`,
      "",
      "uvicorn[standard] == 0.30.1 ; python_version >= '3.9' and sys_platform == \"linux\"  # why",
      "torch===2.3.0+cpu",
    ].join("\r\n");
    expect(readFiles(readPythonPlan, { "requirements.txt": text })).toMatchObject({
      kind: "python",
      lock: "requirements.txt",
      packages: [{ name: "requests" }, { name: "uvicorn" }, { name: "torch" }],
      files: {
        "requirements.txt": [
          `requests==2.32.0 ${hash} ${hash}`,
          "uvicorn[standard] == 0.30.1 ; python_version >= '3.9' and sys_platform == \"linux\"",
          "torch===2.3.0+cpu",
          "",
        ].join("\n"),
      },
    });
  });

  test.each([
    "requests",
    "requests>=2.0",
    "requests==2.*",
    "requests==2.0,<3",
    "requests @ https://example.com/requests.whl",
    "https://example.com/requests.whl",
    "git+https://example.com/requests.git",
    "./requests",
    "-e .",
    "-r other.txt",
    "--index-url https://example.com/simple",
    "--extra-index-url=https://example.com/simple",
    "requests==2.0 --config-settings=a=b",
    "requests==2.0 ; python_version > '3' --hash=sha256:xyz",
    "requests==2.0 ; a --install-option=x",
    "requests==2.0 --hash=md5:00",
  ])("with the line `%s` is refused, with its number", (line) => {
    const reading = readFiles(readPythonPlan, { "requirements.txt": `fine==1.0\n${line}\n` });
    expect(reading).toMatchObject({
      code: "environment.unlocked",
      line: 2,
      hint: expect.stringContaining("`name==1.2.3`"),
    });
  });

  test.each(["\f", "\v", "\u2028", "\t"])(
    "is given to pip in lines that pip does not divide (%j)",
    (space) => {
      const text = `fine==1.0 ;${space}-r x\\`;
      expect(readFiles(readPythonPlan, { "requirements.txt": text })).toMatchObject({
        files: { "requirements.txt": "fine==1.0 ; -r x\n" },
      });
    },
  );

  test("named `requirements.lock` is the one that counts", () => {
    const files = { "requirements.txt": "requests>=2\n", "requirements.lock": "requests==2.32.0\n" };
    expect(readFiles(readPythonPlan, files)).toMatchObject({ lock: "requirements.lock" });
  });

  test("of another tool is named, with how to turn it into one", () => {
    expect(readFiles(readPythonPlan, { "uv.lock": "version = 1\n" })).toMatchObject({
      code: "environment.unlocked",
      message: expect.stringContaining("`uv.lock`"),
      hint: expect.stringContaining("uv export"),
    });
    expect(readFiles(readPythonPlan, { "requirements.txt": "# nothing\n" })).toBeUndefined();
  });

  test("of a hostile length is read in no time to speak of", () => {
    const long = `a==1${" ".repeat(50_000)};${" ".repeat(50_000)}--\n`;
    expect(readFiles(readPythonPlan, { "requirements.txt": long })).toMatchObject({
      code: "environment.unlocked",
    });
  });
});

describe("where packages come from", () => {
  test("the index of Python is PyPI, or the one of the config alone", () => {
    expect(pythonIndex({ build: true })).toEqual({
      url: "https://pypi.org/simple",
      network: ["pypi.org", "files.pythonhosted.org"],
    });
    const url = "https://python.example.com:8443/simple/";
    expect(pythonIndex({ build: true, pythonIndex: url })).toEqual({
      url,
      network: ["python.example.com:8443"],
    });
  });

  test("a registry of Node has no user name, and every package is below it", () => {
    for (const url of ["", "undefined", "file:///tmp", "https://me:secret@example.com/"]) {
      expect(nodeRegistry(url)).toBeUndefined();
    }
    const registry = nodeRegistry("https://example.com/npm\n");
    if (!registry) throw new Error("This is an address.");
    expect(registry).toEqual({ url: "https://example.com/npm/", network: ["example.com"] });
    const from = (resolved: string): unknown => {
      const plan = readNode({ "node_modules/a": { ...ENTRY, resolved } }) as EnvironmentPlan;
      return findForeignPackage(plan, registry, "https://usual.example.org/")?.name;
    };
    expect(from("https://example.com/npm/a/-/a-1.0.0.tgz")).toBeUndefined();
    expect(from(ENTRY.resolved)).toBeUndefined();
    expect(from("https://example.com/npm-evil/a.tgz")).toBe("a");
    expect(from("https://example.com/npm/../other/a.tgz")).toBe("a");
    expect(from("https://usual.example.org.example.net/a.tgz")).toBe("a");
  });
});
