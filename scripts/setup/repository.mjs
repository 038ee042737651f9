/** The clone as the scripts see it: where it is, how they print, how they run programs quietly. Plain Node 20. */
import { spawnSync } from "node:child_process";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");

/** Where npm puts commands; first on the PATH of every npm script. */
export const COMMANDS = join(ROOT, "node_modules", ".bin");

/** A step that failed. The message says what to do; `output` is what the failed program printed. */
export class SetUpError extends Error {
  /** @param {string} message @param {string} [output] */
  constructor(message, output = "") {
    super(message);
    this.output = output;
  }
}

/** Prints one short line about the current step to stderr: stdout is for the program that follows. @param {string} text */
export function say(text) {
  process.stderr.write(`metier: ${text}\n`);
}

/**
 * Runs a program to its end and keeps what it prints.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, timeout?: number }} [options]
 * @returns {{ ok: boolean, output: string }}
 */
export function runQuietly(program, args, options = {}) {
  const result = spawnSync(program, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  const output = [result.stdout, result.stderr, result.error?.message].filter(Boolean).join("\n").trim();
  return { ok: result.status === 0, output };
}

/**
 * Runs a program in place of this one: it shares our streams, and its exit code is returned.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {number} the exit code
 */
export function runInForeground(program, args, env = process.env) {
  const path = [COMMANDS, env.PATH].filter(Boolean).join(delimiter);
  const result = spawnSync(program, args, { cwd: ROOT, stdio: "inherit", env: { ...env, PATH: path } });
  if (result.error) throw new SetUpError(`\`${program}\` could not be started: ${result.error.message}`);
  return result.status ?? 1;
}

/** Runs a script's main function; a failed step ends it with a message, not a stack. @param {() => number} main */
export function runScript(main) {
  try {
    process.exitCode = main();
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    if (error.output) process.stderr.write(`${error.output}\n`);
    say(error.message);
    process.exitCode = 1;
  }
}
