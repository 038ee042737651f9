/**
 * The user's own `claude` program as a model, once they accepted its vendor's terms. It gets no tools, settings, hooks
 * or MCP servers of its own, and an empty folder; an answer passes only after the program reported that it has no
 * tools. So Metier's tools, policy, sandbox and log apply.
 */
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { cleanLine } from "@metier/base/text";
import { createLineReader, runProcess } from "@metier/sandbox";
import type { ModelConfig } from "@metier/skills/config";
import { type ClaudeReader, createClaudeReader } from "./claude-answer.ts";
import { gatherAnswer } from "./gather-answer.ts";
import type { ModelRefusal } from "./model-request.ts";
import { type TextRequest, toTextRequest } from "./text-tools.ts";

/** Refuses what the user hasn't agreed to. */
export function openClaudeProgram(
  { program, acceptedTerms, model }: ModelConfig,
  where: string,
  environment: Environment,
): Result<LanguageModelV4, ModelRefusal> {
  if (!acceptedTerms) {
    return refused({
      message: `\`[${where}]\` uses your \`claude\` program, but you have not accepted its vendor's terms.`,
      hint: "Run `metier init` in a terminal and choose it there.",
    });
  }
  if (program === undefined || !isAbsolute(program) || !isExecutable(program)) {
    return refused({
      message: `\`${where}.program\` is not the absolute path of a program you can run.`,
      hint: "Run `metier init --replace` to find it.",
    });
  }
  return done(createClaudeModel(program, model ?? "default", environment));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Missing, or not accessible to this user.
  }
}

/**
 * No tools, no MCP servers, no settings with hooks, no skills, nothing stored. An empty `--tools` or
 * `--setting-sources` means none.
 */
const FLAGS = [
  ...["--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"],
  ...["--include-partial-messages", "--no-session-persistence", "--disable-slash-commands"],
  ...["--tools", "", "--setting-sources", "", "--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}'],
];

const TIMEOUT_MS = 30 * 60_000;
const MOST_LINE_BYTES = 8 * 1024 * 1024;
const MOST_KEPT_BYTES = 64 * 1024;

function createClaudeModel(program: string, model: string, environment: Environment): LanguageModelV4 {
  const doStream: LanguageModelV4["doStream"] = async (options) => ({
    stream: ask({ program, model, environment }, options),
  });
  return {
    specificationVersion: "v4",
    provider: "claude-program",
    modelId: model,
    supportedUrls: {},
    doStream,
    doGenerate: async (options) => gatherAnswer((await doStream(options)).stream),
  };
}

interface ClaudeStart {
  readonly program: string;
  readonly model: string;
  readonly environment: Environment;
}

/** One process per request: it gets the whole conversation, as the redaction gate left it. */
function ask(
  start: ClaudeStart,
  options: LanguageModelV4CallOptions,
): ReadableStream<LanguageModelV4StreamPart> {
  const stop = new AbortController();
  const { abortSignal } = options;
  const signal = abortSignal ? AbortSignal.any([abortSignal, stop.signal]) : stop.signal;
  const request = toTextRequest(options);
  const reader = createClaudeReader(request.word);
  const last: LanguageModelV4StreamPart[] = [];
  return new ReadableStream<LanguageModelV4StreamPart>({
    async start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      const take = (line: string): void => {
        if (stop.signal.aborted) return; // Nobody is listening anymore.
        const parts = reader.read(line);
        if (reader.isOver) {
          last.push(...parts);
          stop.abort(); // It has answered, or broken a rule: the rest is ignored.
        } else for (const part of parts) controller.enqueue(part);
      };
      const feed = createLineReader(MOST_LINE_BYTES, take, () => stop.abort());
      const outcome = await startClaude(start, request, signal, feed);
      if (abortSignal?.aborted) throw abortSignal.reason;
      if (!reader.isOver) throw explainEnd(start.program, outcome, reader);
      // The answer ends after the process and its folder are gone.
      for (const part of last) controller.enqueue(part);
      controller.close();
    },
    cancel: () => stop.abort(),
  });
}

async function startClaude(
  { program, model, environment }: ClaudeStart,
  { system, message }: TextRequest,
  signal: AbortSignal,
  feed: (chunk: Uint8Array) => void,
): ReturnType<typeof runProcess> {
  const folder = mkdtempSync(join(tmpdir(), "metier-claude-"));
  try {
    // Not in the arguments, which other users can read.
    const file = join(folder, "system.txt");
    writeFileSync(file, system, { mode: 0o600 });
    const named = model === "default" ? [] : ["--model", model];
    const content = [{ type: "text", text: message }];
    return await runProcess({
      program,
      args: [...FLAGS, "--system-prompt-file", file, ...named],
      env: chooseEnvironment(program, environment),
      cwd: folder,
      stdin: `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`,
      limits: { timeoutMs: TIMEOUT_MS, maxOutputBytes: MOST_KEPT_BYTES },
      signal,
      onOutput: (stream, chunk) => stream === "stdout" && feed(chunk),
      passesOutput: true,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function explainEnd(
  program: string,
  { ended, exitCode, stderr }: Awaited<ReturnType<typeof runProcess>>,
  { hasBegun }: ClaudeReader,
): Error {
  const how = ended === "exited" ? `exited with ${exitCode}` : `was stopped (${ended})`;
  const said = cleanLine(stderr).trim().slice(0, 300);
  const advice = hasBegun ? "" : " Start it in a terminal to check that you are signed in.";
  return new Error(`\`${program}\` ${how} before it finished its answer${said ? `: ${said}` : "."}${advice}`);
}

/** Its sign-in, network and language; nothing from the project, and no PATH that leads there. */
const PASSED =
  /^(?:HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|XDG_\w+|https?_proxy|no_proxy|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|CLAUDE_CONFIG_DIR|CLAUDE_CODE_OAUTH_TOKEN|ANTHROPIC_\w+)$/i;

function chooseEnvironment(program: string, environment: Environment): Readonly<Record<string, string>> {
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && PASSED.test(entry[0]),
  );
  return {
    ...Object.fromEntries(passed),
    PATH: [dirname(program), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
}
