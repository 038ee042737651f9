/** `metier run`: one skill, one isolated run. Standard output is the result alone; progress goes to standard error. */
import { resolve } from "node:path";
import { runFolder } from "../../events/run-log.ts";
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { refusalText } from "../../invoke/refusal-text.ts";
import { copyWorkFiles } from "../../run/copy-work-files.ts";
import type { RunRequest } from "../../run/run-request.ts";
import type { RunResult } from "../../run/run-result.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import { askForTrust } from "../ask-for-trust.ts";
import { readCaller } from "../caller-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { planText } from "../output/plan-text.ts";
import { createProgress } from "../output/run-progress.ts";
import { safeText, styleFor } from "../output/style.ts";
import { exitFor } from "../run/exit-for.ts";
import { questionsFor } from "../run/questions.ts";
import { type RunFlags, readRunFlags } from "../run/run-flags.ts";

export async function run(context: CliContext, flags: RunFlags, ...words: readonly string[]): Promise<void> {
  const [skill = "", ...message] = words;
  if (flags.json && flags.events) {
    throw new UsageError("`--json` prints the result alone, and `--events` every event: give one of them.");
  }
  const cwd = workingDirectory(context, flags);
  const request: RunRequest = {
    skill,
    source: "user",
    caller: readCaller(flags),
    ...(message.length > 0 && { message: message.join(" ") }),
    ...readRunFlags(flags, cwd),
    ...questionsFor(context, flags),
  };
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  try {
    if (flags.dryRun) await showPlan(context, flags, metier, request);
    else await carryOut(context, flags, metier, request);
  } finally {
    await metier.capabilities.close();
  }
}

async function showPlan(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<void> {
  const planned = await metier.plan(request);
  if (!planned.ok) {
    finish(context, flags, planned.result);
    return;
  }
  if (flags.json) outJson(context, planned.outline);
  else {
    const style = styleFor(context.io.color);
    out(context, planText(planned.outline, style));
    err(context, planned.outline.diagnostics.map((found) => diagnosticText(found, style)).join("\n"));
  }
}

async function carryOut(
  context: CliContext,
  flags: RunFlags,
  metier: Metier,
  request: RunRequest,
): Promise<void> {
  const progress = createProgress((text) => err(context, text), styleFor(context.io.color));
  const handle = metier.start({
    ...request,
    onProgress: (text) => err(context, safeText(text)),
    onEvent: (event) => {
      if (flags.events) out(context, JSON.stringify(event));
      else if (!flags.json) progress(event);
    },
  });
  context.io.onInterrupt(() => handle.cancel());
  const result = await handle.result;
  if (flags.out === undefined || result.files.length === 0) {
    finish(context, flags, result);
    return;
  }
  const target = resolve(workingDirectory(context, flags), flags.out);
  const { work } = runFolder(metier.places, result.runId);
  const { copied, left, diagnostics } = copyWorkFiles(work, target, result.files);
  if (!flags.json) err(context, `${copied.length} of its files are in ${safeText(target)}.`);
  if (left.length > 0)
    err(context, `Not copied, because other programs obey them: ${safeText(left.join(", "))}.`);
  finish(context, flags, { ...result, diagnostics: [...result.diagnostics, ...diagnostics] });
  if (diagnostics.length > 0) endWith(context, EXIT.failed);
}

function finish(context: CliContext, flags: RunFlags, result: RunResult): void {
  endWith(context, exitFor(result));
  if (flags.json) {
    outJson(context, result);
    return;
  }
  if (!flags.events) out(context, safeText(result.text));
  const style = styleFor(context.io.color);
  err(context, result.diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
  err(context, endingText(result));
}

/** Why it did not simply complete. */
function endingText({ status, refusal, error, limit, denied }: RunResult): string {
  const lines = denied.map(({ tool, reason }) => `not allowed: ${tool}: ${reason}`);
  if (refusal) lines.push(`refused: ${refusalText(refusal)}`);
  if (error) lines.push(`error: ${error.message}`);
  if (limit)
    lines.push(`stopped: the limit of ${limit} was reached; the text above is what there is so far.`);
  if (status === "cancelled") lines.push("cancelled.");
  return safeText(lines.join("\n"));
}
