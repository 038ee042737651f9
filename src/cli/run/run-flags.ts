/** What the options of `metier run` say about the run itself. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { UsageError } from "../../foundation/errors.ts";
import type { RunLimits } from "../../run/run-limits.ts";
import type { RunRequest } from "../../run/run-request.ts";
import type { Json } from "../../skill/manifest.ts";
import type { CallerFlags } from "../caller-flags.ts";
import type { CommonFlags } from "../common-flags.ts";

export interface RunFlags extends CommonFlags, CallerFlags {
  readonly context?: string;
  readonly args?: string;
  readonly input?: string;
  readonly model?: string;
  readonly variables?: string;
  readonly envFile?: string;
  readonly approve: boolean;
  readonly maxIterations?: string;
  readonly timeout?: string;
  readonly maxTokens?: string;
  readonly write: boolean;
  readonly out?: string;
  readonly dryRun: boolean;
  readonly events: boolean;
  readonly record?: string;
  readonly replay?: string;
}

type Told = Pick<
  RunRequest,
  "context" | "arguments" | "input" | "model" | "env" | "privateFiles" | "limits" | "write" | "record"
>;

export function readRunFlags(flags: RunFlags, cwd: string): Told {
  if (flags.replay !== undefined && flags.model !== undefined) {
    throw new UsageError("`--replay` stands in for a model; `--model` cannot be given with it.");
  }
  const model = flags.replay === undefined ? flags.model : `replay:${resolve(cwd, flags.replay)}`;
  return {
    ...(flags.context !== undefined && { context: flags.context }),
    ...(flags.args !== undefined && { arguments: flags.args }),
    ...(flags.input !== undefined && { input: readInput(flags.input, cwd) }),
    ...(model !== undefined && { model }),
    ...readVariables(flags, cwd),
    limits: readLimits(flags),
    write: flags.write,
    ...(flags.record !== undefined && { record: resolve(cwd, flags.record) }),
  };
}

export function readInput(text: string, cwd: string): Json {
  return parseInput(text.startsWith("@") ? readText("--input", resolve(cwd, text.slice(1))) : text);
}

export function parseInput(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch (error) {
    throw new UsageError(`\`--input\` is no JSON: ${(error as Error).message}`, {
      hint: 'Give an object, as in \'{"topic": "tides"}\', or @file.',
    });
  }
}

/**
 * Two names for one option: Node itself obeys `--env-file` wherever it stands in a command line, and ends before Metier
 * begins when there is no such file.
 */
export function readVariables(
  { variables, envFile }: Pick<RunFlags, "variables" | "envFile">,
  cwd: string,
): Pick<Told, "env" | "privateFiles"> {
  if (variables !== undefined && envFile !== undefined) {
    throw new UsageError("`--variables` and `--env-file` are the same: give one of them.");
  }
  const [flag, path] =
    variables === undefined ? (["--env-file", envFile] as const) : (["--variables", variables] as const);
  if (path === undefined) return {};
  const file = resolve(cwd, path);
  const entries = Object.entries(parseEnv(readText(flag, file)));
  const env = Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return { env, privateFiles: [file] };
}

/** Also from a pipe, as in `--variables <(pass show keys)`. */
function readText(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`\`${flag}\` cannot be read: ${(cause as Error).message}`, {
      hint: "Name a file that exists and that you may read.",
      cause,
    });
  }
}

function readLimits({ maxIterations, timeout, maxTokens }: RunFlags): Partial<RunLimits> {
  return {
    ...(maxIterations !== undefined && { maxIterations: readCount("--max-iterations", maxIterations) }),
    ...(timeout !== undefined && { timeoutMs: readCount("--timeout", timeout) * 1000 }),
    ...(maxTokens !== undefined && { maxTokens: readCount("--max-tokens", maxTokens) }),
  };
}

export function readCount(flag: string, text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be a whole number from 1.`);
}
