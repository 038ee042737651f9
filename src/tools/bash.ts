/**
 * `bash`: runs a command in the sandbox of the run, or not at all. What a scoped pattern allowed comes as literal words
 * and is executed without a shell. Nothing that a command starts outlives the call.
 */
import { existsSync } from "node:fs";
import { chooseSandbox, explainAbsence } from "../sandbox/choose-sandbox.ts";
import { describeOutcome } from "./describe-outcome.ts";
import { fault, type Tool, type ToolOutput } from "./tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MEGABYTE = 1024 * 1024;
const LIMITS = {
  maxOutputBytes: 8 * MEGABYTE,
  maxProcesses: 256,
  maxMemoryBytes: 4096 * MEGABYTE,
  maxFileBytes: 1024 * MEGABYTE,
};

/** The shell that commands are written for; every system has at least `sh`. */
const SHELL = ["/bin/bash", "/usr/bin/bash"].some((file) => existsSync(file)) ? "bash" : "sh";

interface BashInput {
  readonly command: string;
  readonly timeout_ms?: number;
}

export const bashTool: Tool = {
  name: "bash",
  description: [
    "Runs a shell command in a sandbox and gives its exit code, standard output and standard error.",
    "Files are kept in `$METIER_WORK_DIR`, which is writable; `/tmp` is emptied after every call.",
    "There is no network and no terminal. Processes in the background end with the call.",
  ].join(" "),
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
    const { argv = [SHELL, "-c", command], world, sandbox, env, signal } = context;
    if (!sandbox) return explainNoSandbox();
    const outcome = await sandbox.run({ argv, world, env, signal, limits: { ...LIMITS, timeoutMs } });
    return describeOutcome(outcome, timeoutMs, context);
  },
};

/** Why no command is run, with what to do. */
export async function explainNoSandbox(): Promise<ToolOutput> {
  const { sandbox, probes } = await chooseSandbox({ backend: "auto" });
  if (!sandbox) return fault(explainAbsence(probes));
  return fault(
    "No command is run: the sandbox that the config asks for does not work here. See `metier doctor`.",
  );
}
