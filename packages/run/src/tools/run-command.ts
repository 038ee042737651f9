/**
 * Runs a command for a model: returns how it ended, and both streams. For long output the model gets the start and the
 * end; all of it goes to files in the work folder, without secrets, and the text names them. Also has the tool `bash`.
 */
import { existsSync } from "node:fs";
import type { Json, JsonSchema } from "@metier/base/json";
import {
  type CommandOutcome,
  chooseSandbox,
  explainAbsence,
  type Sandbox,
  type SandboxBackend,
  type SandboxCommand,
} from "@metier/sandbox";
import { createOutputPager, type PagedOutput, type PagedStream } from "./page-output.ts";
import {
  answer,
  countSchema,
  fault,
  inputSchema,
  type Tool,
  type ToolContext,
  type ToolOutput,
  textSchema,
} from "./tool.ts";

/** Of both streams together. */
const MAX_CHARACTERS = 30_000;
/** The share of standard error if standard output is long too. */
const ERROR_SHARE = MAX_CHARACTERS / 3;
/** What a command writes after this is only in the files. */
export const MAX_OUTPUT_BYTES: number = 1024 * 1024;

/** The request; signal and output belong to the call. */
export type ModelCommand = Pick<SandboxCommand, "argv" | "world" | "cwd" | "env" | "stdin" | "limits">;

/** What depends on who requested the command. */
interface Advice {
  /** For a command that timed out. */
  readonly moreTime: string;
  /** Output that is one JSON value is marked as such. */
  readonly marksJson?: boolean;
  /** For a missing program. Default: how to add programs to the sandbox. */
  onMissing?(program: string): string;
}

export async function runForModel(
  sandbox: Sandbox,
  command: ModelCommand,
  { callId, world, signal, redactStream }: Pick<ToolContext, "callId" | "world" | "signal" | "redactStream">,
  advice: Advice,
): Promise<ToolOutput> {
  const pager = createOutputPager({ world, callId, maxCharacters: MAX_CHARACTERS, redactStream });
  const outcome = await sandbox.run({
    ...command,
    signal,
    onOutput: (stream, chunk) => pager.take(stream, chunk),
  });
  const { onMissing = explainMissing, ...wording } = advice;
  const missing = findMissingProgram(outcome, sandbox);
  const text = describeOutcome(outcome, pager.end(), {
    ...wording,
    timeoutMs: command.limits.timeoutMs,
    hint: missing === undefined ? undefined : onMissing(missing),
  });
  return outcome.ended === "exited" && outcome.exitCode === 0 ? answer(text) : fault(text);
}

interface Wording extends Pick<Advice, "moreTime" | "marksJson"> {
  readonly timeoutMs: number;
  /** What to do about how it ended. */
  readonly hint?: string | undefined;
}

export function describeOutcome(
  outcome: CommandOutcome,
  { stdout, stderr, notes }: PagedOutput,
  { timeoutMs, moreTime, marksJson = false, hint }: Wording,
): string {
  const error = show(stderr, Math.max(ERROR_SHARE, MAX_CHARACTERS - stdout.characters));
  const output = show(stdout, MAX_CHARACTERS - error.length);
  const isJson = marksJson && readJsonOutput(output) !== undefined;
  return [
    describeEnding(outcome, timeoutMs, moreTime),
    ...(hint === undefined ? [] : [hint]),
    ...notes,
    output === "" ? "stdout: (empty)" : `stdout${isJson ? " (JSON)" : ""}:\n${output.trimEnd()}`,
    ...(error === "" ? [] : [`stderr:\n${error.trimEnd()}`]),
  ].join("\n");
}

function describeEnding(
  { ended, exitCode, signal, reason }: CommandOutcome,
  timeoutMs: number,
  moreTime: string,
): string {
  switch (ended) {
    case "exited":
      return `Exit code ${exitCode}.`;
    case "signalled":
      return `Exit code ${exitCode}: the command was killed by ${signal}.`;
    case "timeout":
      return `The command timed out after ${timeoutMs} ms and was stopped, with every process it started. ${moreTime}`;
    case "cancelled":
      return "The command was stopped because the run was.";
    case "limit":
      return `The command was stopped at a limit: ${reason}`;
    case "refused":
      return `The command was not run. ${reason}`;
  }
}

function show({ head, tail, characters }: PagedStream, max: number): string {
  if (characters <= max) return head;
  const end = Math.floor(max / 3);
  const left = characters - max;
  return `${head.slice(0, max - end)}\n[… ${left} characters left out …]\n${tail.slice(-end)}`;
}

/** How shells, `env` and sandboxes report it. */
const NOT_FOUND_CODE = 127;
const NOT_FOUND =
  /(?:^|[:\s])[‘'"`]?([A-Za-z0-9][\w.+-]{0,63})[’'"]?: (?:command not found|not found|No such file or directory)$/m;

/** Where a program comes from, if not from a package with its name. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ["uv", "https://docs.astral.sh/uv/"],
  ["uvx", "https://docs.astral.sh/uv/"],
  ["deno", "https://deno.com"],
  ["bun", "https://bun.sh"],
]);

/** Metier's own program inside the sandbox, which no config adds. */
const OWN = "metier-sb";

/**
 * The missing program that made a command fail, from the shell's message. A sandbox that is a shell without programs
 * says itself what it has.
 */
export function findMissingProgram(
  { ended, exitCode, stderr }: CommandOutcome,
  { runsPrograms }: Pick<Sandbox, "runsPrograms">,
): string | undefined {
  if (!runsPrograms || ended !== "exited" || exitCode !== NOT_FOUND_CODE) return undefined;
  return NOT_FOUND.exec(stderr.slice(-10_000))?.[1];
}

/** What a user can do about it; the program itself was named before. */
export function explainPrograms(program: string): string {
  if (program === OWN) return "Only the `bubblewrap` sandbox has it; `metier doctor` shows how to get it.";
  const source = SOURCES.get(program);
  const install = source === undefined ? "Install it" : `Install it (${source})`;
  return `${install}; if it is not below \`/usr\`, add it to your config: \`[sandbox] programs = ["${program}"]\`. \`metier doctor\` lists the programs in the sandbox.`;
}

export function explainMissing(program: string): string {
  return `The sandbox has no \`${program}\`. ${explainPrograms(program)}`;
}

/** Output that is data: exactly one JSON object or list. A number or word alone is just text. */
export function readJsonOutput(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // It only starts like one.
  }
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_DOMAINS_SHOWN = 20;

const INTERPRETED =
  "The shell is interpreted: its own commands (cat, grep, sed, awk, jq, find, sort and the like) work, but no program of the machine (python3, node, git, curl) can be started.";

/**
 * `bash`: runs a command in the run's sandbox, or not at all. A command that a scoped pattern allowed arrives as
 * literal words and runs without a shell. `network`: granted domains. `backend`: the sandbox.
 */
export function bashToolFor(network: readonly string[], backend: SandboxBackend = "bubblewrap"): Tool {
  return {
    name: "bash",
    description: describeTool(network, backend),
    inputSchema: bashSchema(),
    effect: "execute",
    async execute(input, context) {
      const { command, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = input as {
        readonly command: string;
        readonly timeout_ms?: number;
      };
      const { argv = [findShell(), "-c", command], world, sandbox, env } = context;
      if (!sandbox) return explainNoSandbox();
      const limits = { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES };
      const moreTime = "A longer `timeout_ms` gives it more time.";
      return runForModel(sandbox, { argv, world, env, limits }, context, { moreTime });
    },
  };
}

/** Created once, because it is compiled once too. */
let madeSchema: JsonSchema | undefined;

function bashSchema(): JsonSchema {
  const timeout = `Milliseconds until the command is stopped. Default: ${DEFAULT_TIMEOUT_MS}.`;
  madeSchema ??= inputSchema(
    {
      command: textSchema("The command."),
      timeout_ms: countSchema(timeout, 1, MAX_TIMEOUT_MS),
      description: { type: "string", description: "What the command does, in a few words, for the user." },
    },
    ["command"],
  );
  return madeSchema;
}

/** The shell that commands are written for; every system has at least `sh`. */
function findShell(): string {
  return ["/bin/bash", "/usr/bin/bash"].some((file) => existsSync(file)) ? "bash" : "sh";
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

/** Only bubblewrap allows single domains; the others have no network at all, or all of it. */
function describeNetwork(network: readonly string[], backend: SandboxBackend): string {
  if (backend === "none") return "The network is the user's own. There is no terminal.";
  if (backend !== "bubblewrap" || network.length === 0) return "There is no network and no terminal.";
  const shown = network.slice(0, MAX_DOMAINS_SHOWN).map((domain) => `\`${domain}\``);
  const more = network.length > shown.length ? ` and ${network.length - shown.length} more` : "";
  return `Of the network only ${shown.join(", ")}${more} can be reached, by HTTP and HTTPS through the proxy that \`$HTTPS_PROXY\` names, as most programs do by themselves. There is no terminal.`;
}

/** Why no command runs, and what to do. */
export async function explainNoSandbox(): Promise<ToolOutput> {
  const { sandbox, probes } = await chooseSandbox({ backend: "auto" });
  if (!sandbox) return fault(explainAbsence(probes));
  return fault("Commands do not run: no sandbox suitable for this run works here. See `metier doctor`.");
}
