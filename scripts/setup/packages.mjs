/** Installs the packages of a lockfile, only if the lockfile or the platform has changed. Plain Node 20. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runQuietly, SetUpError, say } from "./repository.mjs";

/** A setup installs everything, no matter how the user's npm is configured or what the calling command asked for. */
const FLAGS = [
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  "--no-dry-run",
  "--no-global",
  "--no-engine-strict",
  "--no-audit",
  "--no-fund",
  "--no-progress",
  "--loglevel=error",
];

/**
 * Makes `folder/node_modules` match `folder/package-lock.json`.
 *
 * @param {string} folder
 * @param {string} what for the line that reports it
 */
export function installPackages(folder, what) {
  const stampFile = join(folder, "node_modules", ".metier-setup");
  const stamp = lockStamp(folder);
  if (readIfThere(stampFile) === stamp) return;
  say(`installing ${what}`);
  const npm = findNpm();
  const result = runQuietly(npm.program, [...npm.args, "ci", ...FLAGS], { cwd: folder, shell: npm.shell });
  if (!result.ok) {
    throw new SetUpError(`\`npm ci\` failed in ${folder}; see its output above.`, result.output);
  }
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(stampFile, stamp);
}

/** @param {string} folder */
function lockStamp(folder) {
  const lock = readFileSync(join(folder, "package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${process.platform}-${process.arch}\n`;
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // not installed yet
  }
}

/** The npm that started this script, on its own Node; otherwise the one on PATH. */
export function findNpm() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env;
  if (cli && node && /^np[mx]-cli\.c?js$/.test(basename(cli))) {
    return { program: node, args: [cli.replace(/npx-cli(?=\.c?js$)/, "npm-cli")], shell: false };
  }
  return { program: "npm", args: [], shell: process.platform === "win32" };
}
