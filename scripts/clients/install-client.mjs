/** Installs one exact version of a client, once, into its own folder outside the repository. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findNpm } from "../setup/packages.mjs";
import { runQuietly, say } from "../setup/repository.mjs";

/** @typedef {import("./profile.mjs").Profile} Profile */

const TIME_LIMIT_MS = 600_000;
const FLAGS = ["--no-audit", "--no-fund", "--no-progress", "--no-engine-strict", "--loglevel=error"];

/** @param {Profile} profile @param {string} folder of all clients */
export function clientProgram({ id, version, program }, folder) {
  return resolve(folder, `${id}-${version}`, "node_modules", ".bin", program);
}

/** @param {Pick<Profile, "id" | "version">} profile @param {string} folder of all clients */
export function isInstalled({ id, version }, folder) {
  return existsSync(stampFile(join(folder, `${id}-${version}`)));
}

/**
 * @param {Pick<Profile, "id" | "version" | "package" | "hasInstallScript">} profile
 * @param {string} folder of all clients
 * @returns {string | undefined} why it couldn't be installed
 */
export function installClient(profile, folder) {
  if (isInstalled(profile, folder)) return undefined;
  const { id, version, package: name, hasInstallScript } = profile;
  const place = join(folder, `${id}-${version}`);
  say(`downloading ${name}@${version} to ${place}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true, mode: 0o700 });
  writeFileSync(join(place, "package.json"), '{ "private": true }\n');
  // Only the client's own script runs, if it needs one to get its program; scripts of its dependencies don't.
  const fault =
    runNpm(place, ["install", "--ignore-scripts", `${name}@${version}`]) ??
    (hasInstallScript ? runNpm(place, ["rebuild", "--no-ignore-scripts", name]) : undefined);
  if (fault === undefined) writeFileSync(stampFile(place), "");
  return fault;
}

/** @param {string} cwd @param {readonly string[]} args @returns {string | undefined} */
function runNpm(cwd, args) {
  const npm = findNpm();
  const options = { cwd, shell: npm.shell, timeout: TIME_LIMIT_MS };
  const { ok, output } = runQuietly(npm.program, [...npm.args, ...args, ...FLAGS], options);
  return ok ? undefined : `\`npm ${args[0]}\` failed: ${output}`;
}

/** Written last, so that an interrupted download isn't taken for a client. @param {string} place */
function stampFile(place) {
  return join(place, ".metier-installed");
}
