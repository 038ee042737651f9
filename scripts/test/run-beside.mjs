/** Runs programs in parallel with others. Plain Node 20. */
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { COMMANDS, ROOT, SetUpError } from "../setup/repository.mjs";

/**
 * Runs a program to its end and keeps what it prints.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<{ readonly ok: boolean, readonly output: string }>}
 */
export function runQuietlyBeside(program, args) {
  const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ ok: false, output: error.message }));
    child.on("close", (code) => resolve({ ok: code === 0, output: output.trim() }));
  });
}

/**
 * Runs a program that shares our streams.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} the exit code
 */
export function runInSightBeside(program, args, env) {
  const path = [COMMANDS, env.PATH].filter(Boolean).join(delimiter);
  const child = spawn(program, args, { cwd: ROOT, stdio: "inherit", env: { ...env, PATH: path } });
  return new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(new SetUpError(`\`${program}\` could not be started: ${error.message}`)),
    );
    child.on("close", (code) => resolve(code ?? 1));
  });
}
