/**
 * The place where a client is tried: its own home, project and PATH, each with one skill that Metier installed. Fresh
 * marks show where text came from: one in the description, which clients list, and one in the instructions.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "../setup/repository.mjs";

const TIME_LIMIT_MS = 60_000;

/**
 * @typedef {object} TriedSkill
 * @property {string} name
 * @property {string} mark in the description
 * @property {string} codeword in the instructions
 */

/**
 * @typedef {object} World
 * @property {string} folder of all of it
 * @property {string} home
 * @property {string} project
 * @property {Readonly<Record<string, string>>} env everything that a program sees of this machine
 * @property {TriedSkill} homeSkill
 * @property {TriedSkill} projectSkill
 */

/** @param {string} folder empty @returns {World} */
export function makeWorld(folder) {
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  const [programs, temporary] = [join(folder, "bin"), join(folder, "tmp")];
  for (const path of [home, join(project, ".git"), programs, temporary]) mkdirSync(path, { recursive: true });
  symlinkSync(process.execPath, join(programs, "node"));
  symlinkSync(join(ROOT, "packages/metier/bin/metier.js"), join(programs, "metier"));
  const env = {
    PATH: [programs, "/usr/bin", "/bin"].join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
  };
  return { folder, home, project, env, homeSkill: inventSkill("home"), projectSkill: inventSkill("project") };
}

/** Installs both skills as a user would. @param {World} world @param {string} client */
export function installSkills({ folder, project, env, homeSkill, projectSkill }, client) {
  const sources = join(folder, "sources");
  const metier = (/** @type {readonly string[]} */ args) => runMetier({ project, env }, args);
  writeSkill(sources, homeSkill);
  writeSkill(sources, projectSkill);
  metier(["install", join(sources, homeSkill.name), "--agent", client, "--yes"]);
  metier(["install", join(sources, projectSkill.name), "--agent", client, "--project", "--copy", "--yes"]);
}

/**
 * @param {Pick<World, "project" | "env">} world
 * @param {readonly string[]} args
 * @returns {string} what it printed
 */
export function runMetier({ project, env }, args) {
  const options = { cwd: project, env, encoding: /** @type {const} */ ("utf8"), timeout: TIME_LIMIT_MS };
  const { status, stdout, stderr, error } = spawnSync("metier", args, options);
  if (status !== 0) throw new Error(`\`metier ${args.join(" ")}\` failed: ${error?.message ?? stderr}`);
  return stdout;
}

/** @param {string} place @returns {TriedSkill} */
function inventSkill(place) {
  return { name: `codeword-${place}`, mark: randomWord(), codeword: randomWord() };
}

function randomWord() {
  return randomBytes(8).toString("hex");
}

/** @param {string} folder @param {TriedSkill} skill */
function writeSkill(folder, { name, mark, codeword }) {
  mkdirSync(join(folder, name), { recursive: true });
  const description = `Tells the codeword of harbour ${mark}. Use when someone asks for it.`;
  const text = `---\nname: ${name}\ndescription: ${description}\n---\n\nThe codeword is ${codeword}.\n`;
  writeFileSync(join(folder, name, "SKILL.md"), text);
}
