/** The real command in a real pseudo-terminal: steps in, the screen and the exit code out. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { COMPILED_CODE } from "./compiled-code.ts";
import { ROOT } from "./repository.ts";

export type TerminalStep =
  /** Waits until it is on the screen, after what was waited for before. */
  { readonly expect: string } | { readonly send: string } | { readonly kill: true };

export interface TerminalOutcome {
  /** With the control sequences that a terminal obeys. */
  readonly screen: string;
  readonly code: number;
}

/** Where it is, so that the PATH of a test does not lead to another. */
const PYTHON = spawnSync("python3", ["-c", "import pty, sys; print(sys.executable)"], { encoding: "utf8" });

export const HAS_TERMINAL: boolean = process.platform !== "win32" && PYTHON.status === 0;

const MAIN = join(ROOT, "packages/cli/src/main.ts");

export async function inTerminal(
  steps: readonly TerminalStep[],
  args: readonly string[],
  place: {
    readonly cwd: string;
    readonly home: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<TerminalOutcome> {
  const program = [process.execPath, MAIN, ...args, "--home", place.home];
  const child = spawn(PYTHON.stdout.trim(), [join(ROOT, "test/support/drive-terminal.py"), ...program], {
    cwd: place.cwd,
    env: { ...COMPILED_CODE, PATH: process.env.PATH ?? "", TERM: "xterm-256color", ...place.environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let screen = "";
  let fault = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    fault += text;
  });
  child.stdin.end(steps.map((step) => `${JSON.stringify(step)}\n`).join(""));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(fault);
  const end = screen.lastIndexOf("\n");
  return { screen: screen.slice(0, end), code: Number(screen.slice(end + 1)) };
}
