/**
 * The Claude Agent SDK as a client: not a program but a package, in which skills are tools of this process. It is
 * downloaded like a client, and `try-agent-sdk.mjs` runs in the same sandbox without a network.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runQuietly } from "../setup/repository.mjs";
import { installClient } from "./install-client.mjs";
import { sandboxWords } from "./try-apart.mjs";

const TIME_LIMIT_MS = 300_000;

export const AGENT_SDK = {
  id: "claude-agent-sdk",
  package: "@anthropic-ai/claude-agent-sdk",
  version: "0.3.325",
};

/**
 * @param {string} clients folder of all clients
 * @returns {string | undefined} what went wrong
 */
export function tryAgentSdk(clients) {
  const fault = installClient(AGENT_SDK, clients);
  if (fault !== undefined) return fault;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-agent-sdk-")));
  const place = join(clients, `${AGENT_SDK.id}-${AGENT_SDK.version}`);
  const script = join(import.meta.dirname, "try-agent-sdk.mjs");
  const [program = "", ...args] = [...sandboxWords(folder), process.execPath, script, place, folder];
  const { ok, output } = runQuietly(program, args, { timeout: TIME_LIMIT_MS });
  rmSync(folder, { recursive: true, force: true });
  return ok ? undefined : output;
}
