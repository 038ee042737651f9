/** `metier run`: one skill, one isolated run. Standard output is the result alone; progress goes to standard error. */
import { resolve } from "node:path";
import { EXIT, UsageError } from "@metier/base/errors";
import { safeText } from "@metier/base/text";
import { copyWorkFiles, type RunRequest, type RunResult, refusalText } from "@metier/run";
import { type RunLimit, runFolder } from "@metier/run/events";
import type { Metier, PlannedRun } from "@metier/runtime";
import type { Action } from "../commands/define.ts";
import type { RunFlags } from "../commands/doing.ts";
import { type CliContext, endWith, err, listenTwice, out, reply, STOPPING } from "../context.ts";
import { askForTrust, readCaller, workingDirectory } from "../open-metier.ts";
import { planText } from "../output/run-progress.ts";
import { openRunScreen } from "../output/run-screen.ts";
import { count } from "../output/style.ts";
import { readMessageInput } from "./message-input.ts";
import { exitFor, questionsFor, readRunFlags } from "./run-request.ts";
import { openSkill } from "./skill-path.ts";

export const runAction: Action<RunFlags> = async (context, flags, ...words) => {
  const [word = "", ...message] = words;
  if (flags.json && flags.events) {
    throw new UsageError("`--json` prints the result alone, and `--events` every event: give one of them.");
  }
  const cwd = workingDirectory(context, flags);
  const told = readRunFlags(flags, cwd);
  const said = await readMessageInput(
    context,
    message,
    told.arguments !== undefined || told.input !== undefined,
  );
  const opened = await openSkill(context, flags, word);
  if (opened.trustWith !== undefined && !flags.json && !flags.quiet) {
    err(context, `Not trusted: it sees only its own folder. To trust it: ${safeText(opened.trustWith)}`);
  }
  const metier = await askForTrust(context, flags, opened.metier);
  const request: RunRequest = {
    skill: opened.address,
    source: "user",
    caller: readCaller(flags),
    ...said,
    ...told,
  };
  try {
    if (flags.dryRun)
      showPlan(context, flags, await metier.plan({ ...request, ...questionsFor(context, flags) }));
    else await carryOut(context, flags, metier, request);
  } finally {
    await metier.capabilities.close();
  }
};

function showPlan(context: CliContext, flags: RunFlags, planned: PlannedRun): void {
  if (!planned.ok) {
    finish(context, flags, planned.result);
    return;
  }
  const { outline } = planned;
  reply(context, flags, outline, (style) => planText(outline, style), outline.diagnostics);
}

async function carryOut(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<void> {
  const { result, isShown } = await watchRun(context, flags, metier, request);
  if (flags.out === undefined || result.files.length === 0) {
    finish(context, flags, result, isShown);
    return;
  }
  const target = resolve(workingDirectory(context, flags), flags.out);
  const { work } = runFolder(metier.places, result.runId);
  const { copied, left, diagnostics } = copyWorkFiles(work, target, result.files);
  if (!flags.json) err(context, `Copied ${count(copied.length, "file")} to ${safeText(target)}.`);
  if (left.length > 0)
    err(context, `Not copied, because other programs obey them: ${safeText(left.join(", "))}.`);
  finish(context, flags, { ...result, diagnostics: [...result.diagnostics, ...diagnostics] }, isShown);
  if (diagnostics.length > 0) endWith(context, EXIT.failed);
}

interface WatchedRun {
  readonly result: RunResult;
  /** The answer is on the screen already. */
  readonly isShown: boolean;
}

/** The first Ctrl-C stops the run, which may take a moment to end what it started; the second ends everything at once. */
async function watchRun(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<WatchedRun> {
  const { io } = context;
  const stop = (): void => {
    screen.stopping();
    if (!flags.json) screen.io.stderr.write(`${STOPPING}\n`);
    handle.cancel();
  };
  const { interrupt, release } = listenTwice(io, stop, () => screen.close());
  const { quiet, json, events } = flags;
  const screen = openRunScreen(io, { quiet, silent: json || events, onInterrupt: interrupt });
  const handle = metier.start({
    ...request,
    ...questionsFor({ ...context, io: screen.io }, flags, metier.places),
    onProgress: (text) => screen.onProgress(text),
    onEvent: (event) => {
      if (events) out(context, JSON.stringify(event));
      else screen.onEvent(event);
    },
  });
  try {
    const result = await handle.result;
    return { result, isShown: screen.end(result) };
  } finally {
    release();
    screen.close();
  }
}

function finish(context: CliContext, flags: RunFlags, result: RunResult, isShown = false): void {
  endWith(context, exitFor(result));
  const { object } = result; // Of a skill with an `output-schema`.
  const said = object === undefined ? result.text : JSON.stringify(object, null, 2);
  const text = flags.events || isShown ? "" : safeText(said);
  reply(context, flags, result, () => text, result.diagnostics);
  if (!flags.json) err(context, endingText(result));
}

/** Why it did not simply complete. */
function endingText({ status, text, refusal, error, limit, denied }: RunResult): string {
  // Whoever stops a run is not told what that kept it from doing.
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
