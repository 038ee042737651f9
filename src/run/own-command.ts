/** Programs of the user's own config (a key command, a password store): without a shell, with the user's environment. */
import { createCommandFinder, type Environment } from "../host/find-command.ts";
import { runProcess } from "../sandbox/run-process.ts";

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

export type OwnCommand = (
  argv: readonly string[],
  options?: { readonly timeoutMs?: number },
) => Promise<{ readonly stdout: string }>;

/** Rejects when it cannot be run, fails or takes too long. What it printed is in no message: it may be a secret. */
export function createOwnCommand(environment: Environment): OwnCommand {
  return async ([name = "", ...args], { timeoutMs = TIMEOUT_MS } = {}) => {
    const program = name.startsWith("/") ? name : createCommandFinder(environment)(name);
    if (program === undefined) throw new Error(`\`${name}\` is not on PATH`);
    const env = Object.fromEntries(
      Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const limits = { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES };
    const { ended, exitCode, stdout } = await runProcess({ program, args, env, limits });
    if (ended === "exited" && exitCode === 0) return { stdout };
    throw new Error(`\`${name}\` ${ended === "exited" ? `ended with ${exitCode}` : ended}`);
  };
}
