/**
 * Runs the command that installs system packages, with its output passed on as it comes. Only after a person at a
 * terminal typed the word: no option answers for them.
 */
import { CancelledError, MetierError } from "../../foundation/errors.ts";
import { createCommandFinder } from "../../host/find-command.ts";
import { runProcess } from "../../sandbox/run-process.ts";
import type { CliContext } from "../context.ts";

const WORD = "install";
const LIMITS = { timeoutMs: 60 * 60_000, maxOutputBytes: 65_536 };

/** Throws unless everything went well. */
export async function installPackages(
  { io }: CliContext,
  command: readonly string[],
  canAsk: boolean,
): Promise<void> {
  const text = command.join(" ");
  const hint = `To install them yourself: ${text}`;
  if (!canAsk) {
    const message = "System packages are installed only after a person confirms it in a terminal.";
    throw new MetierError("setup.refused", message, { hint });
  }
  const answer = await io.ask(`Type \`${WORD}\` to run it, anything else to leave it: `);
  if (answer.trim() !== WORD) {
    throw new MetierError("setup.refused", `Nothing was installed: the answer was not \`${WORD}\`.`, {
      hint,
    });
  }
  const [name = "", ...args] = command;
  const program = createCommandFinder(io.environment)(name);
  if (program === undefined) {
    throw new MetierError("setup.unavailable", `\`${name}\` is not found.`, { hint });
  }
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  const outcome = await runProcess({
    program,
    args,
    env: { PATH: io.environment.PATH ?? "", LANG: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" },
    limits: LIMITS,
    signal: stop.signal,
    sharesTerminal: true,
    onOutput: (stream, chunk) => io[stream].write(decoders[stream].decode(chunk, { stream: true })),
  }).finally(release);
  if (outcome.ended === "cancelled") throw new CancelledError("Cancelled while apt was at work.");
  if (outcome.exitCode === 0) return;
  const how = outcome.reason ?? `\`${text}\` ended with ${outcome.exitCode ?? outcome.ended}.`;
  throw new MetierError("setup.failed", `The packages were not installed: ${how}`, {
    hint: "What it said stands above.",
  });
}
