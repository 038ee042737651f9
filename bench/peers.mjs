/** The other tools, in exact versions, installed in a cache folder outside the repository. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runQuietly, say } from "../scripts/setup/repository.mjs";

export const PEERS = { openskills: "1.5.0", skills: "1.7.4", "skills-ref": "0.1.5" };

const PROGRAMS = {
  openskills: "openskills/dist/cli.js",
  skills: "skills/bin/cli.mjs",
  "skills-ref": "skills-ref/dist/cli.js",
};

/** @returns {Record<keyof typeof PEERS, string>} the program of each peer */
export function installPeers() {
  const modules = installVersions(PEERS, Object.values(PROGRAMS));
  return {
    openskills: join(modules, PROGRAMS.openskills),
    skills: join(modules, PROGRAMS.skills),
    "skills-ref": join(modules, PROGRAMS["skills-ref"]),
  };
}

/**
 * Installs them once; an existing installation is used as it is.
 *
 * @param {Readonly<Record<string, string>>} packages exact versions by name
 * @param {readonly string[]} files below `node_modules`, which show that they are installed
 * @returns {string} the folder `node_modules`
 */
export function installVersions(packages, files) {
  const versions = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const folder = join(tmpdir(), `metier-bench-${versions.join("-").replaceAll("/", "+")}`);
  const modules = join(folder, "node_modules");
  if (files.every((file) => existsSync(join(modules, file)))) return modules;
  say(`installing ${versions.join(", ")} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...versions];
  const { ok, output } = runQuietly("npm", args, { cwd: folder });
  if (!ok) throw new Error(`The peers could not be installed:\n${output}`);
  return modules;
}
