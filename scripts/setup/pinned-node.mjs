/**
 * The Node that development and CI run on, pinned in `tools/node` and never published. Linked into
 * `node_modules/.bin`, which comes first on the PATH of npm scripts and `npx`. Plain Node 20.
 */
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { installPackages } from "./packages.mjs";
import { COMMANDS, ROOT, runQuietly, SetUpError, say } from "./repository.mjs";

const TOOL = join(ROOT, "tools", "node");
const LINK = join(COMMANDS, "node");
const OLDEST = "22.18";

/**
 * Installs and links the pinned Node, or falls back to this machine's own where that is new enough.
 *
 * @returns {string} the program to run everything else with
 */
export function preparePinnedNode() {
  const fault = installFault();
  const pinned = fault ? undefined : findPinnedNode();
  if (pinned && (isLinked(pinned) || link(pinned))) return LINK;
  rmSync(LINK, { force: true });
  const platform = `${process.platform}-${process.arch}`;
  const reason = fault
    ? `the pinned Node could not be installed (${fault.message})`
    : `no pinned Node runs on ${platform}`;
  if (isSupported(process.versions.node)) {
    say(`${reason}; using this machine's Node ${process.versions.node}`);
    return process.execPath;
  }
  throw new SetUpError(
    `${reason}, and this machine's Node ${process.versions.node} is too old. Install Node ${OLDEST} or newer.`,
    fault?.output,
  );
}

/** The same floor as `engines` in `package.json` and in `bin/metier.js`. @param {string} version */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

function installFault() {
  try {
    installPackages(TOOL, "the Node that development runs on (tools/node)");
    return undefined;
  } catch (error) {
    if (error instanceof SetUpError) return error;
    throw error;
  }
}

/** The lockfile names one package per platform, and npm installs the one that fits, if any. */
function findPinnedNode() {
  const folder = join(TOOL, "node_modules");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name, "bin", "node")).find((program) => existsSync(program));
}

/** @param {string} program */
function isLinked(program) {
  try {
    return readlinkSync(LINK) === relative(COMMANDS, program);
  } catch {
    return false; // no link yet
  }
}

/** Links a Node only if it really starts; one built for another C library doesn't. @param {string} program */
function link(program) {
  if (!runQuietly(program, ["--version"]).ok) return false;
  mkdirSync(COMMANDS, { recursive: true });
  rmSync(LINK, { force: true });
  symlinkSync(relative(COMMANDS, program), LINK);
  return true;
}
