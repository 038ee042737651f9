/**
 * Compiles functions that reading commands and an installation call together with their file. V8 compiles a function
 * on its first call, but Node's compile cache is written before that, so each start compiled hundreds of them again: a
 * quarter of its time. A function in parentheses is compiled at once and cached. Running the commands shows which
 * functions those are.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT } from "../setup/repository.mjs";

const PINNED_NODE = join(ROOT, "node_modules/.bin/node");

/** Cold, unchanged, and the commands that usually follow. */
const COMMANDS = [
  ["list"],
  ["list"],
  ["list", "--json"],
  ["show", "skill-1"],
  ["find", "review", "invoices"],
];
/** Not `--all`: the thread that scans would be another one, whose functions are not seen. */
const INSTALL = ["--skill", "new-*", "--yes", "--agent", "claude-code"];
/** Too few for another thread. */
const NEW_SKILLS = 12;
/** What a scan parses. */
const SCRIPTS = {
  "scripts/fetch.py":
    "import json\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)\n",
  "scripts/build.sh": '#!/bin/sh\nset -e\nfor name in *.md; do\n  echo "$name"\ndone\n',
  "scripts/check.js": "export function check(text) {\n  return text.trim() !== '';\n}\n",
  "references/guide.md": "# Guide\n\nSee [the script](../scripts/fetch.py).\n",
};
/** Enough skills to be stored in an index. */
const SKILLS = 40;
/** What people write, in all the ways in which they write it. */
const FRONTMATTER = [
  "description: Reviews invoices when the user asks for it.\nlicense: MIT",
  'description: "Reviews invoices: all of them."\nallowed-tools:\n  - Read\n  - Bash(git:*)',
  "description: >-\n  Reviews invoices\n  when asked.\nmetadata:\n  author: someone\n  version: '1.0'",
  "description: |\n  Reviews invoices\n  when asked.\nallowed-tools: Read, Grep, Bash(git log:*)",
  "description: 'The user''s own words'\ncompatibility: Needs git and Python 3.9 or newer, on Linux or macOS",
  "description: Reviews invoices\n  on two lines.\nmodel: fast\nuser-invocable: true\nenv: [API_URL, API_KEY]",
  "description: Reviews – and checks – invoices.\ntags: [text, review]\nversion: 1.2\nargument-hint: <file>",
];

/** A project to run the commands in. Made early: an index ignores files of the last two seconds. */
export function makeProject() {
  const folder = mkdtempSync(join(tmpdir(), "metier-build-"));
  for (let number = 0; number < SKILLS; number++) {
    writeSkill(join(folder, "project", ".claude", "skills"), `skill-${number}`, number);
  }
  const source = sourceIn(folder);
  for (let number = 0; number < NEW_SKILLS; number++) {
    const skill = writeSkill(source, `new-${number}`, number);
    for (const [path, text] of Object.entries(SCRIPTS)) {
      mkdirSync(dirname(join(skill, path)), { recursive: true });
      writeFileSync(join(skill, path), text);
    }
  }
  const steps = [
    ["init", "--quiet"],
    ["add", "--all"],
    ["commit", "--quiet", "--message", "skills"],
  ];
  // Without git, an installation compiles its functions when it calls them.
  if (!steps.every((args) => runGit(source, args))) rmSync(source, { recursive: true, force: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** @param {string} project */
function sourceIn(project) {
  return join(project, "source");
}

/** @param {string} folder @param {string} name @param {number} number @returns {string} its folder */
function writeSkill(folder, name, number) {
  const skill = join(folder, name);
  mkdirSync(skill, { recursive: true });
  const fields = FRONTMATTER[number % FRONTMATTER.length];
  const body = "# How\n\nRead it, then run `scripts/fetch.py`.\n\n```sh\nls -l\n```\n";
  writeFileSync(join(skill, "SKILL.md"), `---\nname: ${name}\n${fields}\n---\n\n${body}`);
  return skill;
}

/** Without the user's settings. @param {string} cwd @param {readonly string[]} args @returns {boolean} whether it worked */
function runGit(cwd, args) {
  const author = ["-c", "user.name=Build", "-c", "user.email=build@example.com"];
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  return spawnSync("git", [...author, ...args], { cwd, env }).status === 0;
}

/**
 * @param {string} built the folder with the program
 * @param {string} project
 * @returns {ReadonlyMap<string, ReadonlySet<string>>} names of functions that were called, by the file below the folder
 */
export function findCalled(built, project) {
  /** @type {Map<string, Set<string>>} */
  const called = new Map();
  for (const command of COMMANDS) addCalled(called, runLogged(built, project, command), built);
  const source = sourceIn(project);
  if (!existsSync(source)) return called;
  /** @type {Map<string, Set<string>>} */
  const installing = new Map();
  const install = ["install", pathToFileURL(source).href, ...INSTALL];
  addCalled(installing, runLogged(built, project, install), built);
  // What reading commands load stays as small as they need it.
  return new Map([...installing, ...called]);
}

/** @param {string} built @param {string} project @param {readonly string[]} command @returns {string} what V8 wrote */
function runLogged(built, project, command) {
  const node = existsSync(PINNED_NODE) ? PINNED_NODE : process.execPath;
  const log = join(project, "functions.log");
  const flags = ["--log-function-events", "--no-logfile-per-isolate", `--logfile=${log}`];
  const { status, stderr } = spawnSync(node, [...flags, join(built, "cli/main.js"), ...command], {
    cwd: join(project, "project"),
    env: { PATH: process.env.PATH, HOME: project, METIER_THREADS: "1" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`\`metier ${command.join(" ")}\` ended with ${status}: ${stderr}`);
  return readFileSync(log, "utf8");
}

/** @param {Map<string, Set<string>>} called @param {string} log @param {string} built */
function addCalled(called, log, built) {
  /** @type {Map<string, Set<string>>} by the number of a script */
  const scripts = new Map();
  for (const line of log.split("\n")) {
    const [kind, a = "", b = "", , , , , name = ""] = line.split(",");
    if (kind === "script-details" && b.startsWith("file:")) {
      const file = relative(built, fileURLToPath(b));
      const names = called.get(file) ?? new Set();
      called.set(file, names);
      scripts.set(a, names);
    } else if (kind === "function" && a === "interpreter" && name !== "") {
      scripts.get(b)?.add(name);
    }
  }
}

/** As esbuild prints it: top-level code starts and ends at the start of a line. */
const DECLARATION = /^(?:async )?function\*? ([\w$]+)\(.*?^\}$/gms;

/** Marks where the parentheses go: esbuild drops parentheses without effect. */
const MARK = "__compiledAtOnce";

/**
 * Marks them, and moves them to the beginning, so that they exist before anything is called, as declarations do.
 *
 * @param {string} code an ES module as esbuild prints it
 * @param {ReadonlySet<string>} names
 */
export function markCalled(code, names) {
  let first = "";
  const rest = code.replace(DECLARATION, (text, /** @type {string} */ name) => {
    if (!names.has(name)) return text;
    first += `var ${name} = ${MARK}(${text});\n`;
    return "";
  });
  return first + rest;
}

/** @param {string} code marked code */
export function replaceMarks(code) {
  return code.replaceAll(`${MARK}(`, "(");
}
