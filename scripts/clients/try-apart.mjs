/**
 * Tries a client where it can do no harm: in a sandbox without a network that can write only to one temporary folder,
 * and whose processes all end with it.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runQuietly } from "../setup/repository.mjs";
import { sandboxStatus } from "../setup/sandbox.mjs";
import { clientProgram } from "./install-client.mjs";

const PROGRAM = join(import.meta.dirname, "try-client.mjs");
const TIME_LIMIT_MS = 400_000;

/**
 * @typedef {object} Outcome
 * @property {string} [skipped] why it wasn't tried
 * @property {import("./try-client.mjs").Result} [result]
 * @property {string} [fault] if it failed: its output and requests, and the folder it left
 */

/**
 * @param {import("./profile.mjs").Profile} profile
 * @param {string} clients folder of all clients
 * @returns {Outcome}
 */
export function tryApart(profile, clients) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `metier-${profile.id}-`)));
  const outcome = tryIn(folder, profile, clientProgram(profile, clients));
  if (outcome.fault === undefined) rmSync(folder, { recursive: true, force: true });
  return outcome;
}

/**
 * @param {string} folder
 * @param {import("./profile.mjs").Profile} profile
 * @param {string} client
 * @returns {Outcome}
 */
function tryIn(folder, { id }, client) {
  const [program = "", ...args] = [...sandboxWords(folder), process.execPath, PROGRAM, id, client, folder];
  const { ok, output } = runQuietly(program, args, { timeout: TIME_LIMIT_MS });
  const kept = `Its files are in ${folder}.`;
  if (!ok) return { fault: `${output}\n${kept}` };
  const { skipped, result, details } = JSON.parse(readFileSync(join(folder, "result.json"), "utf8"));
  if (skipped !== undefined) return { skipped };
  const { home, project, opened, mcp } = result;
  return [home, project, opened, mcp].includes(false) ? { result, fault: `${details}\n${kept}` } : { result };
}

/** Empty if there is no sandbox. @param {string} folder */
export function sandboxWords(folder) {
  if (!sandboxStatus().available) return [];
  const files = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
  return ["bwrap", "--unshare-net", "--unshare-pid", "--die-with-parent", ...files, "--"];
}
