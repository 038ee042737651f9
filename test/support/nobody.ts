/** Running something as an ordinary user while the tests run as root. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./repository.ts";

export const NOBODY = 65_534;

/** Arguments of `setpriv`, before the command. */
export const AS_NOBODY: readonly string[] = [
  "--reuid",
  String(NOBODY),
  "--regid",
  String(NOBODY),
  "--clear-groups",
];

/** The program that runs a command in the sandbox. */
export const SANDBOXED_COMMAND: string = join(ROOT, "test/support/sandboxed-command.ts");

/** Only root can, and only where others may read this repository and its Node. */
export function canBecomeNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync("setpriv", [...AS_NOBODY, process.execPath, "--check", SANDBOXED_COMMAND]).status === 0;
}
