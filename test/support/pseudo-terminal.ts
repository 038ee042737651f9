/** A command line in a real terminal, as a process, with keys that are pressed when something has appeared. */
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { ROOT } from "./repository.ts";
import type { World } from "./world.ts";

interface Keys {
  /** What has to be on the screen first. */
  readonly after: string;
  readonly send: string;
}

interface TerminalOptions {
  readonly columns?: number;
  readonly keys?: readonly Keys[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface TerminalOutcome {
  /** Everything that was written to it, with its control sequences and with `\n` as line end. */
  readonly screen: string;
  /** What stays on it when lines are drawn over: no colors, no line that was cleared. */
  readonly lines: readonly string[];
  readonly code: number;
}

const PROGRAM = join(ROOT, "test/support/pseudo-terminal.py");
const LIMIT_SECONDS = 60;

export const CTRL_C = "\u0003";

const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;
/** Where there is no Python, there is no terminal to try it in. */
export const describeTerminal: typeof describe = hasPython ? describe : (describe.skip as typeof describe);

export async function inPseudoTerminal(
  { home, project }: World,
  words: readonly string[],
  { columns = 80, keys = [], environment = {} }: TerminalOptions = {},
): Promise<TerminalOutcome> {
  const main = join(ROOT, "packages/cli/src/main.ts");
  const command = [process.execPath, "--no-warnings", main, ...words, "--home", home, "--cwd", project];
  const order = JSON.stringify({ columns, keys, limit: LIMIT_SECONDS, command });
  const { NO_COLOR: _, ...env } = process.env;
  const place = { cwd: project, env: { ...env, ...environment } };
  const { stdout } = await promisify(execFile)("python3", [PROGRAM, order], place);
  const { screen, code } = JSON.parse(stdout) as { screen: string; code: number };
  const plain = screen.replaceAll("\r\n", "\n");
  return { screen: plain, lines: toLines(plain), code };
}

function toLines(screen: string): readonly string[] {
  const cleared = screen.split("\n").map((line) => line.slice(line.lastIndexOf("\r\u001b[2K") + 1));
  return cleared.map((line) => line.replace(/\u001b\[[?\d;]*[a-zA-Z]/g, "").replace("[2K", ""));
}
