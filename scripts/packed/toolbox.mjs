/**
 * What all groups of `npm run test:packed` share: the packed package, tools of other versions, and the expected
 * output.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { ROOT, runQuietly, SetUpError } from "../setup/repository.mjs";

/**
 * @typedef {object} Workshop
 * @property {string} folder contains everything
 * @property {string} tarball the package as npm would publish it
 * @property {string} skills a folder of skills for the programs
 */

/** The oldest supported version, the newest of that line, and the current one. */
export const NODES = ["22.18.0", "22.23.3", "26.10.0"];
export const CURRENT_NODE = "26.10.0";

const INSTALL_MS = 10 * 60_000;
const RUN_MS = 3 * 60_000;
const INSTALL_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** @param {string} folder @returns {Workshop} */
export function pack(folder) {
  const packed = runQuietly(
    "npm",
    ["pack", "--workspace", "metier", "--pack-destination", folder, "--loglevel=error"],
    {
      timeout: INSTALL_MS,
    },
  );
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (!packed.ok || name === undefined) throw new SetUpError("Can't pack the package.", packed.output);
  const skills = join(folder, "skills");
  cpSync(join(ROOT, "examples/skills"), skills, { recursive: true });
  return { folder, tarball: join(folder, name), skills };
}

/**
 * A fresh project with the packed package and these others installed.
 *
 * @param {Workshop} workshop @param {string} name
 * @param {{ type?: "module" | "commonjs", packages?: Record<string, string>, files?: Record<string, string> }} [parts]
 * @returns {string} its folder
 */
export function makeProject({ folder, tarball }, name, { type = "module", packages = {}, files = {} } = {}) {
  const project = join(folder, name);
  const manifest = { private: true, type, dependencies: { metier: `file:${tarball}`, ...packages } };
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  install(project);
  return project;
}

/** @type {Map<string, string>} */
const tools = new Map();

/** Installed once, in its own folder. @param {Workshop} workshop @param {string} name @param {string} version @returns {string} the package's folder */
export function tool({ folder }, name, version) {
  const key = `${name}@${version}`;
  const known = tools.get(key);
  if (known !== undefined) return known;
  const place = join(folder, "tools", key.replaceAll("/", "+"));
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "package.json"),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  );
  install(place);
  const found = join(place, "node_modules", name);
  tools.set(key, found);
  return found;
}

/** From the npm package `node`: its package for this platform, which needs no install script. @param {Workshop} workshop @param {string} version */
export function nodeProgram(workshop, version) {
  const platform = process.platform === "win32" ? "win" : process.platform;
  return join(tool(workshop, `node-${platform}-${process.arch}`, version), "bin", "node");
}

/** @param {string} cwd */
function install(cwd) {
  const { ok, output } = runQuietly("npm", ["install", ...INSTALL_FLAGS], { cwd, timeout: INSTALL_MS });
  if (!ok)
    throw new SetUpError(`npm could not install the packages in ${join(cwd, "package.json")}.`, output);
}

/**
 * @param {string} program @param {readonly string[]} args
 * @param {{ cwd: string, env?: Record<string, string>, timeout?: number }} options
 * @returns {{ ok: boolean, stdout: string, output: string }}
 */
export function run(program, args, { cwd, env = {}, timeout = RUN_MS }) {
  // Programs that a tool starts as `node` use the same Node as the tool.
  const path = [dirname(program), process.env.PATH].filter(Boolean).join(delimiter);
  const { NODE_OPTIONS: _ours, METIER_HOME: _home, ...rest } = process.env;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...rest, PATH: path, ...env },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [stdout, stderr, error?.message].filter(Boolean).join("\n").trim();
  return { ok: status === 0, stdout, output };
}

/**
 * One row of the table; a thrown error or a returned text is its problem.
 *
 * @param {string} what @param {() => string | undefined} attempt @returns {import("../packed.mjs").Row}
 */
export function row(what, attempt) {
  const begun = Date.now();
  try {
    return { what, problem: attempt(), ms: Date.now() - begun };
  } catch (fault) {
    const said = fault instanceof SetUpError ? [fault.message, fault.output].join("\n") : String(fault);
    return { what, problem: said.trim().slice(-2000), ms: Date.now() - begun };
  }
}

/** What `app/main.mjs` must print; a sandboxed call uses bubblewrap if it is available. */
const EXPECTED = {
  bundled: 4,
  instructions: true,
  found: true,
  adapter: 3,
  bash: { backend: "bubblewrap", status: "completed", told: ["Exit code 0.", "42"], files: ["out.txt"] },
  shell: { backend: "just-bash", status: "completed", told: ["Exit code 0.", "42"], files: ["out.txt"] },
  toolset: { status: "completed", told: ['{"euros":42}'] },
};

/** What is wrong with the program's output. @param {{ ok: boolean, stdout: string, output: string }} outcome @param {{ skip?: readonly string[] }} [options] @returns {string | undefined} */
export function judge({ ok, stdout, output }, { skip = [] } = {}) {
  if (!ok) return output.slice(-2000);
  const line = stdout.trim().split("\n").at(-1) ?? "";
  let said;
  try {
    said = JSON.parse(line);
  } catch {
    return `It printed no JSON: ${output.slice(-2000)}`;
  }
  const wrong = Object.entries(EXPECTED).filter(
    ([key, value]) => !skip.includes(key) && JSON.stringify(said[key]) !== JSON.stringify(value),
  );
  if (wrong.length === 0) return undefined;
  return wrong
    .map(([key, value]) => `${key}: ${JSON.stringify(said[key])}, not ${JSON.stringify(value)}`)
    .join("\n");
}
