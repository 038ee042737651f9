/**
 * `bash`: runs a command in the sandbox of the run, or not at all. What a scoped pattern allowed comes as literal words
 * and is executed without a shell. Nothing that a command starts outlives the call.
 */
import { existsSync } from "node:fs";
import { chooseSandbox, explainAbsence } from "../sandbox/choose-sandbox.ts";
import type { SandboxBackend } from "../sandbox/sandbox.ts";
import { MAX_OUTPUT_BYTES, runForModel } from "./run-command.ts";
import { fault, type Tool, type ToolOutput } from "./tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** The shell that commands are written for; every system has at least `sh`. */
const SHELL = ["/bin/bash", "/usr/bin/bash"].some((file) => existsSync(file)) ? "bash" : "sh";

const ADVICE = { moreTime: "A longer `timeout_ms` gives it more time." };

const MAX_DOMAINS_SHOWN = 20;

const INTERPRETED =
  "The shell is interpreted: its own commands (cat, grep, sed, awk, jq, find, sort and the like) work, but no program of the machine (python3, node, git, curl) can be started.";

interface BashInput {
  readonly command: string;
  readonly timeout_ms?: number;
}

/** `network`: granted domains. `backend`: what holds the commands. */
export function bashToolFor(network: readonly string[], backend: SandboxBackend = "bubblewrap"): Tool {
  return { ...bashTool, description: describeTool(network, backend) };
}

function describeTool(network: readonly string[], backend: SandboxBackend): string {
  return [
    `Runs a shell command${backend === "none" ? "" : " in a sandbox"} and gives its exit code, standard output and standard error.`,
    "Files are kept in `$METIER_WORK_DIR`, which is writable; `/tmp` is emptied after every call.",
    describeNetwork(network, backend),
    ...(backend === "just-bash" ? [INTERPRETED] : []),
    "Processes in the background end with the call.",
  ].join(" ");
}

/** Only bubblewrap lets single domains through; the others have no network at all, or all of it. */
function describeNetwork(network: readonly string[], backend: SandboxBackend): string {
  if (backend === "none") return "The network is the user's own. There is no terminal.";
  if (backend !== "bubblewrap" || network.length === 0) return "There is no network and no terminal.";
  const shown = network.slice(0, MAX_DOMAINS_SHOWN).map((domain) => `\`${domain}\``);
  const more = network.length > shown.length ? ` and ${network.length - shown.length} more` : "";
  return `Of the network only ${shown.join(", ")}${more} can be reached, by HTTP and HTTPS through the proxy that \`$HTTPS_PROXY\` names, as most programs do by themselves. There is no terminal.`;
}

export const bashTool: Tool = {
  name: "bash",
  description: describeTool([], "bubblewrap"),
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, description: "The command." },
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: MAX_TIMEOUT_MS,
        description: `Milliseconds until the command is stopped. Default: ${DEFAULT_TIMEOUT_MS}.`,
      },
      description: { type: "string", description: "What the command does, in a few words, for the user." },
    },
    required: ["command"],
    additionalProperties: false,
  },
  effect: "execute",
  async execute(input, context) {
    const { command, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = input as unknown as BashInput;
    const { argv = [SHELL, "-c", command], world, sandbox, env } = context;
    if (!sandbox) return explainNoSandbox();
    return runForModel(
      sandbox,
      { argv, world, env, limits: { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES } },
      context,
      ADVICE,
    );
  },
};

/** Why no command is run, with what to do. */
export async function explainNoSandbox(): Promise<ToolOutput> {
  const { sandbox, probes } = await chooseSandbox({ backend: "auto" });
  if (!sandbox) return fault(explainAbsence(probes));
  return fault("No command is run: no sandbox that holds for this run works here. See `metier doctor`.");
}
