/** What the options of `metier eval` say, read and checked. */
import { resolve } from "node:path";
import type { RecordingChoice } from "../../evals/recordings.ts";
import type { SpendingLimits } from "../../evals/spending.ts";
import { UsageError } from "../../foundation/errors.ts";
import type { CommonFlags } from "../common-flags.ts";
import { readCount } from "../run/run-flags.ts";

export interface EvalFlags extends CommonFlags {
  readonly runs?: string;
  readonly only?: readonly string[];
  readonly baseline?: string;
  readonly model?: string;
  readonly graderModel?: string;
  readonly approve: boolean;
  readonly record?: string;
  readonly replay?: string;
  readonly out?: string;
  readonly minPassRate?: string;
  readonly concurrency?: string;
  readonly maxIterations?: string;
  readonly maxTokens?: string;
  readonly maxCost?: string;
  readonly timeout?: string;
  readonly queries?: string;
  readonly threshold?: string;
  readonly seed?: string;
}

/** What all three have in common. `folder` is that of the recordings, below what is given. */
export interface CommonEvalOptions extends RecordingChoice, SpendingLimits {
  readonly model?: string;
  readonly runs?: number;
  readonly concurrency?: number;
}

const MOST_AT_ONCE = 16;

export function readEvalFlags(flags: EvalFlags, cwd: string, folder: string): CommonEvalOptions {
  const { record, replay, model, runs, concurrency, maxTokens, maxCost, timeout } = flags;
  if (record !== undefined && replay !== undefined) {
    throw new UsageError("`--record` and `--replay` exclude each other.", {
      hint: "Record with a model first, then replay what was recorded.",
    });
  }
  if (replay !== undefined && (model !== undefined || flags.graderModel !== undefined)) {
    throw new UsageError("`--replay` stands in for every model; none can be named with it.");
  }
  return {
    ...(record !== undefined && { record: resolve(cwd, record, folder) }),
    ...(replay !== undefined && { replay: resolve(cwd, replay, folder) }),
    ...(model !== undefined && { model }),
    ...(runs !== undefined && { runs: readCount("--runs", runs) }),
    ...(concurrency !== undefined && { concurrency: readConcurrency(concurrency) }),
    ...(maxTokens !== undefined && { maxTokens: readCount("--max-tokens", maxTokens) }),
    ...(maxCost !== undefined && { maxCost: readAmount("--max-cost", maxCost) }),
    ...(timeout !== undefined && { timeoutMs: readCount("--timeout", timeout) * 1000 }),
  };
}

function readConcurrency(text: string): number {
  const number = readCount("--concurrency", text);
  if (number <= MOST_AT_ONCE) return number;
  throw new UsageError(`\`--concurrency\` is \`${text}\`; at most ${MOST_AT_ONCE} runs go at the same time.`);
}

function readAmount(flag: string, text: string): number {
  const amount = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  if (amount > 0) return amount;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be a number above 0.`);
}

/** `0.8` or `80%`. */
export function readRate(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits = "", percent = ""] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const rate = digits === "" ? Number.NaN : Number(digits) / (percent === "" ? 1 : 100);
  if (rate >= 0 && rate <= 1) return rate;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be a rate from 0 to 1, or in percent.`);
}

export function readSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`\`--seed\` is \`${text}\`; it must be a whole number from 0.`);
}

/** An option that would be ignored is said to be. */
export function refuseFlags(flags: EvalFlags, names: readonly (keyof EvalFlags)[], what: string): void {
  const given = names.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (given === undefined) return;
  const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`\`--${flag}\` says nothing to \`metier eval${what}\`.`, {
    hint: "`metier eval --help` says what each option is for.",
  });
}
