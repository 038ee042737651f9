/**
 * What `metier eval`, `eval triggers` and `eval routing` share: reads and checks options, finds skills by name or
 * path, picks the exit code. The work itself is loaded on demand.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hasErrors } from "@metier/base/diagnostic";
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import type { Evaluation, OpenMetier, RecordingChoice, SpendingLimits } from "@metier/evals";
import type { Metier } from "@metier/runtime";
import type { Skill } from "@metier/skills";
import type { EvalFlags } from "../commands/authoring.ts";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith } from "../context.ts";
import { askForTrust, openMetier, workingDirectory } from "../open-metier.ts";
import { readAmount, readCount, readSeconds } from "./run-request.ts";

export const evalAction: Action<EvalFlags> = async (context, flags, ...words) => {
  const { evalTasksAction, routingAction, triggersAction } = await import("./eval-work.ts");
  const [first, ...rest] = words;
  if (first === "triggers") return triggersAction(context, flags, ...rest);
  if (first === "routing") return routingAction(context, flags, ...rest);
  return evalTasksAction(context, flags, ...words);
};

/** Options of all three. `folder` is the recordings folder, below the given one. */
interface CommonEvalOptions extends RecordingChoice, SpendingLimits {
  readonly model?: string;
  readonly runs?: number;
  readonly concurrency?: number;
}

const MOST_AT_ONCE = 16;

export function readEvalFlags(flags: EvalFlags, cwd: string, folder: string): CommonEvalOptions {
  const { record, replay, model, runs, concurrency, maxTokens, maxCost, timeout } = flags;
  if (record !== undefined && replay !== undefined) {
    throw new UsageError("`--record` and `--replay` can't be used together.", {
      hint: "Record with a model first, then replay the recording.",
    });
  }
  if (replay !== undefined && (model !== undefined || flags.graderModel !== undefined)) {
    throw new UsageError("`--replay` replaces every model, so no model option can be used with it.");
  }
  return presentFields({
    record: record === undefined ? undefined : resolve(cwd, record, folder),
    replay: replay === undefined ? undefined : resolve(cwd, replay, folder),
    model,
    runs: readCount("--runs", runs),
    concurrency: readConcurrency(concurrency),
    maxTokens: readCount("--max-tokens", maxTokens),
    maxCost: readAmount("--max-cost", maxCost),
    timeoutMs: readSeconds("--timeout", timeout),
  });
}

function readConcurrency(text: string | undefined): number | undefined {
  const number = readCount("--concurrency", text);
  if (number === undefined || number <= MOST_AT_ONCE) return number;
  throw new UsageError(
    `\`--concurrency\` is \`${text}\`; the limit is ${MOST_AT_ONCE} runs at the same time.`,
  );
}

/** `0.8` or `80%`. */
export function readRate(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits = "", percent = ""] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const rate = digits === "" ? Number.NaN : Number(digits) / (percent === "" ? 1 : 100);
  if (rate >= 0 && rate <= 1) return rate;
  throw new UsageError(`\`${flag}\` is \`${text}\`; it must be a rate from 0 to 1, or a percentage.`);
}

export function readSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`\`--seed\` is \`${text}\`; it must be a whole number, 0 or greater.`);
}

/** Reports an option that would be ignored. */
export function refuseFlags(
  flags: EvalFlags,
  names: readonly (keyof EvalFlags & string)[],
  what: string,
): void {
  const given = names.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (given === undefined) return;
  const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`\`--${flag}\` has no effect on \`metier eval${what}\`.`, {
    hint: "`metier eval --help` explains each option.",
  });
}

export interface EvaluatedCatalog {
  readonly metier: Metier;
  /** Finds a skill by name, or by the path of its folder or file. Throws if there is none. */
  find(text: string): Skill;
  /** The same; for a folder of skills, returns those that `isWanted`. */
  findAll(text: string, isWanted: (skill: Skill) => boolean): readonly Skill[];
  /** For runs, with the same home and config. */
  readonly open: OpenMetier;
}

/** `named` are the names on the command line; those that are paths are read, too. */
export async function openEvaluated(
  context: CliContext,
  flags: CommonFlags,
  named: readonly string[],
): Promise<EvaluatedCatalog> {
  const cwd = workingDirectory(context, flags);
  const isPath = (text: string): boolean => /[/\\]/.test(text) || existsSync(resolve(cwd, text));
  const paths = [...(flags.path ?? []), ...named.filter(isPath)].map((path) => resolve(cwd, path));
  const opened = await openMetier(context, flags, paths.length > 0 ? { paths } : {});
  const metier = await askForTrust(context, flags, opened);
  const { projectFile } = metier.config;
  return {
    metier,
    find: (text) => (isPath(text) ? requireAt(metier, resolve(cwd, text)) : metier.require(text)),
    findAll(text, isWanted) {
      if (!isPath(text)) return [metier.require(text)];
      const path = resolve(cwd, text);
      const below = findAt(metier, path) ? [] : findBelow(metier, path);
      return below.length > 0 ? below.filter(isWanted) : [requireAt(metier, path)];
    },
    open: (options) =>
      openMetier(context, flags, {
        paths: [],
        ...presentFields({ configFile: projectFile?.granted ? projectFile.path : undefined }),
        ...options,
      }),
  };
}

/** The same folder may be found twice, in a project and by its path: the trusted one counts. */
function findAt({ catalog }: Metier, path: string): Skill | undefined {
  const real = realPathOr(path);
  const found = catalog.all.filter(
    ({ directory, location, form }) =>
      realPathOr(location) === real || (form === "directory" && realPathOr(directory) === real),
  );
  return found.find(({ trust }) => trust.level === "trusted") ?? found[0];
}

function requireAt(metier: Metier, path: string): Skill {
  const skill = findAt(metier, path);
  if (skill) return skill;
  throw new UsageError(`There is no skill at \`${path}\`.`, {
    hint: "Pass the folder that holds its `SKILL.md`. `metier validate` shows what is wrong with a skill.",
  });
}

/** Each once, by the path of its file. */
function findBelow(metier: Metier, path: string): readonly Skill[] {
  const real = realPathOr(path);
  const files = metier.catalog.all
    .filter(({ location }) => location !== "")
    .map(({ location }) => realPathOr(location))
    .filter((file) => isInside(file, real));
  return [...new Set(files)].map((file) => requireAt(metier, file));
}

interface Ending extends Pick<Evaluation, "errors" | "stopped" | "cancelled" | "diagnostics"> {
  readonly passRate: number;
  /** `--min-pass-rate` */
  readonly least: number | undefined;
}

/** What ended it early says more than its rate at that point. */
export function endEvaluation(context: CliContext, ending: Ending): boolean {
  const { passRate, least, errors, stopped, cancelled, diagnostics } = ending;
  const reasons = [
    [cancelled, EXIT.cancelled],
    [stopped !== undefined, EXIT.limited],
    [errors > 0, EXIT.failed],
    [(least !== undefined && passRate < least) || hasErrors(diagnostics), EXIT.no],
  ] as const;
  const found = reasons.find(([applies]) => applies);
  if (found) endWith(context, found[1]);
  return found === undefined;
}
