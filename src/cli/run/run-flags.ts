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
  "context" | "arguments" | "input" | "model" | "env" | "limits" | "write" | "record"
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
    ...(flags.envFile !== undefined && { env: readEnvFile(resolve(cwd, flags.envFile)) }),
    limits: readLimits(flags),
    write: flags.write,
    ...(flags.record !== undefined && { record: resolve(cwd, flags.record) }),
  };
}

function readInput(text: string, cwd: string): Json {
  const json = text.startsWith("@") ? readFileSync(resolve(cwd, text.slice(1)), "utf8") : text;
  try {
    return JSON.parse(json) as Json;
  } catch (error) {
    throw new UsageError(`\`--input\` is no JSON: ${(error as Error).message}`, {
      hint: 'Give an object, as in \'{"topic": "tides"}\', or @file.',
    });
  }
}

function readEnvFile(file: string): Readonly<Record<string, string>> {
  const entries = Object.entries(parseEnv(readFileSync(file, "utf8")));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
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
