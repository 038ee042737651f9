/** Starts a client with one prompt and none of this machine's environment, and waits for it to end. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const TIME_LIMIT_MS = 120_000;
const KEPT_OUTPUT = 4000;

/**
 * @param {string} program
 * @param {import("./profile.mjs").Start} start
 * @param {import("./world.mjs").World} world
 * @returns {Promise<{ readonly fault: string | undefined, readonly output: string, readonly ms: number }>}
 */
export function runClient(program, { files, env, args }, world) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(world.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: world.project,
    env: { ...world.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // it leads a group, so that its children end with it
  });
  const endGroup = () => child.pid !== undefined && endProcesses(child.pid);
  const timer = setTimeout(endGroup, TIME_LIMIT_MS);
  let output = "";
  const keep = (/** @type {Buffer} */ part) => {
    output = (output + part).slice(-KEPT_OUTPUT);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve) => {
    const end = (/** @type {string | undefined} */ fault) => {
      clearTimeout(timer);
      endGroup();
      resolve({ fault, output, ms: Math.round(performance.now() - started) });
    };
    child.on("error", (error) => end(`it could not be started: ${error.message}`));
    child.on("exit", (code, signal) => {
      if (signal) end(`it was killed by ${signal}, as happens after ${TIME_LIMIT_MS / 1000} s`);
      else end(code === 0 ? undefined : `it ended with exit code ${code}`);
    });
  });
}

/** @param {number} leader of a process group */
function endProcesses(leader) {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // all of them have ended
  }
}
