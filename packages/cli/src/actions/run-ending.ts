/** How a run ends on the command line: its answer, its files, why it didn't complete, and the exit code. */
import { EXIT } from "@metier/base/errors";
import type { Places } from "@metier/base/places";
import { safeText } from "@metier/base/text";
import { copyWorkFiles, type RunResult, refusalText } from "@metier/run";
import { type RunLimit, runFolder } from "@metier/run/events";
import { type CliContext, endWith, err, reply } from "../context.ts";
import { count } from "../output/style.ts";
import { exitFor } from "./run-request.ts";

export interface EndingFlags {
  readonly json: boolean;
  /** Stdout already has the events, including the answer. */
  readonly events?: boolean;
}

export interface EndedRun {
  readonly result: RunResult;
  /** The answer is already on the screen. */
  readonly isShown?: boolean | undefined;
}

export function finishRun(
  context: CliContext,
  flags: EndingFlags,
  { result, isShown = false }: EndedRun,
): void {
  endWith(context, exitFor(result));
  const { object } = result; // From a skill with an `output-schema`.
  const said = object === undefined ? result.text : JSON.stringify(object, null, 2);
  const text = flags.events || isShown ? "" : safeText(said);
  reply(context, flags, result, () => text, result.diagnostics);
  if (!flags.json) err(context, endingText(result));
}

/** `target`: the folder that gets the files of the work folder, if given. */
export function finishWithFiles(
  context: CliContext,
  flags: EndingFlags,
  places: Places,
  target: string | undefined,
  { result, isShown }: EndedRun,
): void {
  if (target === undefined || result.files.length === 0) {
    finishRun(context, flags, { result, isShown });
    return;
  }
  const { work } = runFolder(places, result.runId);
  const { copied, left, diagnostics } = copyWorkFiles(work, target, result.files);
  if (!flags.json) err(context, `Copied ${count(copied.length, "file")} to ${safeText(target)}.`);
  if (left.length > 0)
    err(
      context,
      `Not copied, because other programs would execute or obey them: ${safeText(left.join(", "))}.`,
    );
  const told = { ...result, diagnostics: [...result.diagnostics, ...diagnostics] };
  finishRun(context, flags, { result: told, isShown });
  if (diagnostics.length > 0) endWith(context, EXIT.failed);
}

/** Why it didn't complete. */
function endingText({ status, text, refusal, error, limit, denied }: RunResult): string {
  // A user who stops a run doesn't need a list of what it couldn't do.
  const shown = status === "cancelled" ? [] : denied;
  const lines = shown.map(({ tool, reason }) => `not allowed: ${tool}: ${reason}`);
  if (refusal) lines.push(`refused: ${refusalText(refusal)}`);
  if (error) lines.push(`error: ${error.message}`);
  if (limit) lines.push(`${LIMIT_WORDS[limit]} The answer may be incomplete.`);
  if (status === "cancelled") lines.push(text === "" ? "Stopped." : "Stopped. The answer is incomplete.");
  return safeText(lines.join("\n"));
}

const LIMIT_WORDS: Readonly<Record<RunLimit, string>> = {
  iterations: "Stopped after the last allowed step. Allow more with `--max-iterations`.",
  time: "Timed out. Allow more time with `--timeout`.",
  tokens: "Stopped at the token limit. Allow more with `--max-tokens`.",
  cost: "Stopped at the cost limit.",
  output: "Stopped because the model wrote too much.",
  depth: "Stopped because skills called each other too deeply.",
};
