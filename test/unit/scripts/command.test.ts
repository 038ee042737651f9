/** `bin/metier.js` in a package of its own, so that each test decides what lies around it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { overviewText } from "@metier/cli";
import { expect, test } from "vitest";
import { readRepositoryFile } from "../../support/repository.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

const PROGRAM = "process.stdout.write(JSON.stringify(process.argv.slice(2))); process.exitCode = 7;";
/** Preloaded, it makes this Node look like an old one; a process that it starts is what it is. */
const OLD_NODE =
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });';

interface Place {
  readonly command: string;
  readonly home: string;
  readonly cwd: string;
  readonly oldNode: string;
}

function makePackage(files: Readonly<Record<string, string>>): Place {
  const root = temporaryFolder();
  const [home, cwd] = [join(root, "home"), join(root, "cwd")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  writeTree(root, {
    "clone/packages/metier/package.json": '{ "type": "module" }',
    "clone/package.json": '{ "type": "module" }',
    "clone/packages/metier/bin/metier.js": readRepositoryFile("packages/metier/bin/metier.js"),
    "old-node.cjs": OLD_NODE,
    ...files,
  });
  return {
    command: join(root, "clone/packages/metier/bin/metier.js"),
    home,
    cwd,
    oldNode: join(root, "old-node.cjs"),
  };
}

function run({ command, home, cwd }: Place, args: readonly string[], nodeArgs: readonly string[] = []) {
  const env = { PATH: process.env.PATH, HOME: home };
  const result = spawnSync(process.execPath, [...nodeArgs, command, ...args], { cwd, env, encoding: "utf8" });
  return { status: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** A clone has the sources; the published package has not. */
const CLONE = { "clone/packages/metier/src/index.ts": "" };

/** What a set-up leaves in a clone: a newer Node among the commands. */
function linkNode({ command }: Place): void {
  const commands = join(dirname(command), "../../../node_modules/.bin");
  mkdirSync(commands, { recursive: true });
  symlinkSync(process.execPath, join(commands, "node"));
}

test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("%j shows the page that the build wrote", (args) => {
  const place = makePackage({
    "clone/packages/metier/dist/cli/main.js": PROGRAM,
    "clone/packages/metier/dist/overview.txt": "the page\n",
  });
  expect(run(place, args)).toEqual({ status: 0, stdout: "the page\n", stderr: "" });
  expect(run(place, ["help", "list"]).stdout).toBe('["help","list"]');
});

test("the page that the build writes is the one that the program shows", () => {
  expect(readRepositoryFile("packages/metier/dist/overview.txt")).toBe(overviewText());
});

test("without that page the program is asked", () => {
  const place = makePackage({ "clone/packages/metier/dist/cli/main.js": PROGRAM });
  expect(run(place, ["--help"])).toEqual({ status: 7, stdout: '["--help"]', stderr: "" });
});

test("the program gets the arguments and its exit code is the command's", () => {
  const place = makePackage({ "clone/packages/metier/dist/cli/main.js": PROGRAM });
  expect(run(place, ["list", "a b"])).toEqual({ status: 7, stdout: '["list","a b"]', stderr: "" });
});

test("compiled code is kept in the home alone, readable by its owner only", () => {
  const place = makePackage({ "clone/packages/metier/dist/cli/main.js": PROGRAM });
  run(place, ["list"]);
  expect(readdirSync(place.cwd)).toEqual([]);
  expect(statSync(join(place.home, ".metier")).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(place.home, ".metier/cache"))).toEqual(["compile"]);
});

test.each([["--home", "other"], ["--home=other"]])("%s moves it too", (...words) => {
  const place = makePackage({ "clone/packages/metier/dist/cli/main.js": PROGRAM });
  run(place, ["list", ...words]);
  expect(readdirSync(place.home)).toEqual([]);
  expect(existsSync(join(place.cwd, "other/.metier/cache/compile"))).toBe(true);
});

test("a home that cannot be written to is no obstacle", () => {
  const place = makePackage({
    "clone/packages/metier/dist/cli/main.js": PROGRAM,
    "home/.metier": "a file in the way",
  });
  expect(run(place, ["list"])).toEqual({ status: 7, stdout: '["list"]', stderr: "" });
});

test("an old Node is told what to run instead", () => {
  const place = makePackage({ "clone/packages/metier/dist/cli/main.js": PROGRAM });
  const { status, stdout, stderr } = run(place, ["show", "it's me"], ["--require", place.oldNode]);
  expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
  expect(stderr).toContain("Node 20.1.0 is too old; Metier needs 22.18 or newer");
  expect(stderr).toContain("`npx -y -p node@26 -p metier metier show 'it'\\''s me'`");
});

test("in a clone an old Node hands over to the pinned one", () => {
  const place = makePackage({ ...CLONE, "clone/packages/metier/dist/cli/main.js": PROGRAM });
  linkNode(place);
  const result = run(place, ["list"], ["--require", place.oldNode]);
  expect(result).toEqual({ status: 7, stdout: '["list"]', stderr: "" });
});

test("signals are handed on, and so is an end by signal", async () => {
  const program = 'process.stdout.write("ready"); setInterval(() => undefined, 1000);';
  const place = makePackage({ ...CLONE, "clone/packages/metier/dist/cli/main.js": program });
  linkNode(place);
  const child = spawn(process.execPath, ["--require", place.oldNode, place.command], {
    env: { PATH: process.env.PATH, HOME: place.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
});

test("a clone that was never set up is set up first, and what that prints stays out of the answer", () => {
  const setUp = `
    import { mkdirSync, writeFileSync } from "node:fs";
    console.log("setting up");
    mkdirSync(new URL("../packages/metier/dist/cli", import.meta.url), { recursive: true });
    writeFileSync(new URL("../packages/metier/dist/cli/main.js", import.meta.url), ${JSON.stringify(PROGRAM)});
  `;
  const place = makePackage({ ...CLONE, "clone/scripts/setup.mjs": setUp });
  expect(run(place, ["list"])).toEqual({ status: 7, stdout: '["list"]', stderr: "setting up\n" });
});

test("a clone that lost its Node is set up again when this Node is old", () => {
  const setUp = `
    import { mkdirSync, symlinkSync } from "node:fs";
    mkdirSync(new URL("../node_modules/.bin", import.meta.url), { recursive: true });
    symlinkSync(process.execPath, new URL("../node_modules/.bin/node", import.meta.url));
  `;
  const place = makePackage({
    ...CLONE,
    "clone/packages/metier/dist/cli/main.js": PROGRAM,
    "clone/scripts/setup.mjs": setUp,
  });
  const result = run(place, ["list"], ["--require", place.oldNode]);
  expect(result).toEqual({ status: 7, stdout: '["list"]', stderr: "" });
});

test("a set-up that fails ends the command", () => {
  const place = makePackage({ ...CLONE, "clone/scripts/setup.mjs": "process.exit(1);" });
  expect(run(place, ["list"]).status).toBe(6);
});

test("where it is installed, nothing of the folders above is run, whatever they hold", () => {
  const place = makePackage({ "clone/scripts/setup.mjs": 'console.log("run");' });
  linkNode(place);
  const missing = run(place, ["list"]);
  expect(missing.stderr).not.toContain("run\n");
  expect({ ...missing, stderr: "" }).toEqual({ status: 1, stdout: "", stderr: "" });
  const { status, stderr } = run(place, ["list"], ["--require", place.oldNode]);
  expect({ status, isTold: stderr.includes("is too old") }).toEqual({ status: 6, isTold: true });
});
