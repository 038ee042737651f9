/**
 * Turns the options of `metier run` and the person at the terminal into a run request, and the result into an exit
 * code.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { ERROR_CODES, EXIT, type ExitCode, UsageError } from "@metier/base/errors";
import { type Json, presentFields } from "@metier/base/json";
import { safeText } from "@metier/base/text";
import type { AskApproval, AskUser, RunRequest, RunResult } from "@metier/run";
import type { RunStatus } from "@metier/run/events";
import type { RunFlags } from "../commands/doing.ts";
import type { CliContext, CliIo } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import type { ShownChange } from "../output/capabilities-text.ts";
import type { ApprovalPlace } from "./ask-approval.ts";

type Told = Pick<
  RunRequest,
  "context" | "arguments" | "input" | "model" | "env" | "privateFiles" | "limits" | "write" | "record"
>;

export function readRunFlags(flags: RunFlags, cwd: string): Told {
  if (flags.replay !== undefined && flags.model !== undefined) {
    throw new UsageError("`--replay` replaces the model, so `--model` can't be used with it.");
  }
  const model = flags.replay === undefined ? flags.model : `replay:${resolve(cwd, flags.replay)}`;
  return {
    ...presentFields({
      context: flags.context,
      arguments: flags.args,
      input: flags.input === undefined ? undefined : readInputFlag(flags.input, cwd),
      model,
      record: flags.record === undefined ? undefined : resolve(cwd, flags.record),
    }),
    ...readVariables(flags, cwd),
    limits: presentFields({
      maxIterations: readCount("--max-iterations", flags.maxIterations),
      timeoutMs: readSeconds("--timeout", flags.timeout),
      maxTokens: readCount("--max-tokens", flags.maxTokens),
      maxCost: readAmount("--max-cost", flags.maxCost),
    }),
    write: flags.write,
  };
}

/** The folder of `--out`. */
export function outFolder(context: CliContext, flags: RunFlags): string | undefined {
  return flags.out === undefined ? undefined : resolve(workingDirectory(context, flags), flags.out);
}

export function readInputFlag(text: string, cwd: string): Json {
  return parseInput(text.startsWith("@") ? readText("--input", resolve(cwd, text.slice(1))) : text);
}

export function parseInput(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch (error) {
    throw new UsageError(`\`--input\` is not JSON: ${(error as Error).message}`, {
      hint: 'Pass an object, such as \'{"topic": "tides"}\', or @file.',
    });
  }
}

/**
 * Two names for one option: Node itself obeys `--env-file` anywhere on a command line, and exits before Metier starts
 * if the file doesn't exist.
 */
export function readVariables(
  { variables, envFile }: Pick<RunFlags, "variables" | "envFile">,
  cwd: string,
): Pick<Told, "env" | "privateFiles"> {
  if (variables !== undefined && envFile !== undefined) {
    throw new UsageError("`--variables` and `--env-file` are the same option: pass one of them.");
  }
  const [flag, path] =
    variables === undefined ? (["--env-file", envFile] as const) : (["--variables", variables] as const);
  if (path === undefined) return {};
  const file = resolve(cwd, path);
  const env = presentFields(parseEnv(readText(flag, file))) as Record<string, string>;
  return { env, privateFiles: [file] };
}

/** Also reads from a pipe, as in `--variables <(pass show keys)`. */
function readText(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`Can't read \`${flag}\`: ${(cause as Error).message}`, {
      hint: "Pass a file that exists and that you may read.",
      cause,
    });
  }
}

/** In milliseconds. */
export function readSeconds(flag: string, text: string | undefined): number | undefined {
  const seconds = readCount(flag, text);
  return seconds === undefined ? undefined : seconds * 1000;
}

export function readCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be a whole number, 1 or greater.`);
}

/** Money, as `0.50` or `$0.50`. */
export function readAmount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = /^\$?\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text.replace("$", "")) : 0;
  if (amount > 0) return amount;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be an amount above 0.`, {
    hint: `Write it like \`${flag} 0.50\`.`,
  });
}

/** How many of `what` to show. */
export function parseNumber(flag: string, text: string, what: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  const hint = "Use a whole number, 1 or greater.";
  throw new UsageError(`\`${flag} ${text}\` is not a number of ${what}.`, { hint });
}

const EXIT_OF: Readonly<Record<RunStatus, ExitCode>> = {
  completed: EXIT.done,
  limited: EXIT.limited,
  failed: EXIT.failed,
  refused: EXIT.refused,
  cancelled: EXIT.cancelled,
};

/** For runs that didn't start. */
const EXIT_OF_FAULT: ReadonlyMap<string | undefined, ExitCode> = new Map([
  ["model.missing", EXIT.prerequisite],
  ["model.unknown", ERROR_CODES["model.unknown"]],
  ["config.invalid", ERROR_CODES["config.invalid"]],
  ["model.no-price", ERROR_CODES["model.no-price"]],
  ["runs.day-budget", ERROR_CODES["runs.day-budget"]],
]);

export function exitFor({ status, error }: Pick<RunResult, "status" | "error">): ExitCode {
  return EXIT_OF_FAULT.get(error?.code) ?? EXIT_OF[status];
}

export interface QuestionFlags {
  readonly approve: boolean;
  readonly json: boolean;
  readonly events?: boolean;
}

/** `--approve` says yes to tools, and to nothing else; without it and without a terminal, nobody can be asked. */
export function questionsFor(
  { io }: CliContext,
  { approve, json, events = false }: QuestionFlags,
  place?: ApprovalPlace,
): Pick<RunRequest, "approve" | "askUser" | "confirm"> {
  const canAsk = io.interactive && !json && !events;
  if (!canAsk) return approve ? { approve: "all" } : {};
  return {
    approve: approve ? "all" : askLater(io, place),
    askUser: askUser(io),
    confirm: confirmInTerminal(io),
  };
}

/** Loaded on demand, since most runs ask nothing. */
function askLater(io: CliIo, place: ApprovalPlace | undefined): AskApproval {
  let ask: AskApproval | undefined;
  return async (question) => {
    ask ??= (await import("./ask-approval.ts")).askApproval(io, place);
    return ask(question);
  };
}

function askUser(io: CliContext["io"]): AskUser {
  return async ({ question, options }) => {
    const choices = options.map((option, index) => `  ${index + 1}. ${safeText(option)}\n`).join("");
    io.stderr.write(`\n${safeText(question)}\n${choices}`);
    const answer = (await io.ask("> ")).trim();
    const chosen = /^\d+$/.test(answer) ? options[Number(answer) - 1] : undefined;
    return chosen ?? (answer === "" ? undefined : answer);
  };
}

export function confirmInTerminal(
  io: Pick<CliIo, "ask" | "stderr" | "dropTyped">,
): (plan: ShownChange, signal?: AbortSignal) => Promise<"yes" | "no"> {
  return async (plan, signal) => {
    const { mutationText } = await import("../output/capabilities-text.ts");
    await io.dropTyped?.();
    io.stderr.write(`\nMetier is about to make this change for you:\n${mutationText(plan)}\n`);
    const answer = await io.ask("Type `yes` to do exactly this; anything else cancels: ", signal);
    return answer.trim().toLowerCase() === "yes" ? "yes" : "no";
  };
}
