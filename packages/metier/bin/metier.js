#!/usr/bin/env node
/**
 * The first step of the command: checks the Node version, sets up the compile cache, then loads the program. Every old
 * Node must be able to read this file, and every start pays for it, so it loads nothing it doesn't need.
 */
// Importing `node:fs` would load all of it. A Node without this function is too old anyway.
const builtin = process.getBuiltinModule ?? ((/** @type {string} */ name) => import(name));
const { existsSync, mkdirSync, readFileSync, writeSync } = await builtin("node:fs");
const { join } = await builtin("node:path");

const PROGRAM = new URL("../dist/cli/main.js", import.meta.url);
const OVERVIEW = new URL("../dist/overview.txt", import.meta.url);
// Only a clone has these two: its setup script, and the Node that the script installs.
const SET_UP = new URL("../../../scripts/setup.mjs", import.meta.url);
const PINNED_NODE = new URL("../../../node_modules/.bin/node", import.meta.url);
const OLDEST_NODE = "22.18";
const EXIT_PREREQUISITE = 6;

const isNewEnough = checkVersion();
const isReady = existsSync(PROGRAM) && (isNewEnough || existsSync(PINNED_NODE));
if (!isReady && isClone()) await prepareClone();
if (isNewEnough) {
  if (!showOverview()) {
    enableCompileCache();
    await import(PROGRAM.href);
  }
} else {
  await runOnNewerNode();
}

/** Sources are not published. Elsewhere the parent folders belong to someone else, and nothing in them is run. */
function isClone() {
  return existsSync(new URL("../src/index.ts", import.meta.url));
}

function checkVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Shows the prebuilt overview page without loading the program. Returns whether it was requested and shown. */
function showOverview() {
  const [word, ...more] = process.argv.slice(2);
  if (more.length > 0 || ![undefined, "--help", "-h", "help"].includes(word)) return false;
  try {
    writeSync(1, readFileSync(OVERVIEW));
    return true;
  } catch {
    return false; // The program shows it too, and can handle a slow or closed reader.
  }
}

/** Compiled code is kept in the user's own folder: never in a project, never where others could write. */
function enableCompileCache() {
  const folder = join(metierHome(), ".metier", "cache", "compile");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    process.getBuiltinModule("node:module").enableCompileCache(folder);
  } catch {
    // The home folder isn't writable, so every start compiles again.
  }
}

/** `--home` and `METIER_HOME` replace the user's home for everything that Metier writes. */
function metierHome() {
  const index = process.argv.findIndex((word) => word === "--home" || word.startsWith("--home="));
  const word = process.argv[index] ?? "";
  const option = word === "--home" ? process.argv[index + 1] : word.slice("--home=".length);
  return option || process.env.METIER_HOME || process.getBuiltinModule("node:os").homedir();
}

/** A clone that was never set up. */
async function prepareClone() {
  const { fileURLToPath } = await builtin("node:url");
  const { spawnSync } = await import("node:child_process");
  const { status } = spawnSync(process.execPath, [fileURLToPath(SET_UP)], { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(EXIT_PREREQUISITE);
}

/** A clone can continue with a newer Node; elsewhere the user must install one. */
async function runOnNewerNode() {
  if (!isClone() || !existsSync(PINNED_NODE)) {
    const command = ["npx -y -p node@26 -p metier metier", ...process.argv.slice(2).map(quote)].join(" ");
    process.stderr.write(
      `metier: Node ${process.versions.node} is too old; Metier needs ${OLDEST_NODE} or newer. Run \`${command}\`\n`,
    );
    process.exit(EXIT_PREREQUISITE);
  }
  const { fileURLToPath } = await builtin("node:url");
  const { spawn } = await import("node:child_process");
  const { isatty } = await import("node:tty");
  const child = spawn(fileURLToPath(PINNED_NODE), process.argv.slice(1), { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes; a signal sent only to this one is passed on.
  process.on("SIGINT", () => isatty(0) || child.kill("SIGINT"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  process.on("SIGHUP", () => child.kill("SIGHUP"));
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code ?? undefined);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** Quotes a word for a POSIX shell. @param {string} word */
function quote(word) {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
