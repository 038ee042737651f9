/** `metier update`: new versions of installed skills, shown and decided upon one by one; questions only in a terminal. */
import { resolve } from "node:path";
import { ERROR_CODES } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { NotUpdated, UpdateRequest, UpdateResult } from "../../install/update-request.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { acceptFindings } from "../install/accept-findings.ts";
import { offerTrust } from "../install/offer-trust.ts";
import { toError } from "../install/to-error.ts";
import { askAboutUpdates } from "../install/update-questions.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { createFetchProgress } from "../output/fetch-progress.ts";
import { styleFor } from "../output/style.ts";
import { notUpdatedText, updatedText, updateReviewText } from "../output/update-text.ts";

export interface UpdateFlags extends CommonFlags {
  readonly project?: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly force: boolean;
  readonly baseline?: string;
  readonly writeBaseline?: string;
}

export async function run(
  context: CliContext,
  flags: UpdateFlags,
  ...skills: readonly string[]
): Promise<void> {
  const { io } = context;
  const { project, yes, force, json, baseline, writeBaseline } = flags;
  const accepting = writeBaseline && resolve(workingDirectory(context, flags), writeBaseline);
  const dryRun = flags.dryRun || accepting !== undefined;
  const style = styleFor(io.color);
  const metier = await openMetier(context, flags);
  const canAsk = io.interactive && !json && !yes;
  const progress = createFetchProgress(io.stderr);
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  const request: UpdateRequest = {
    skills,
    dryRun,
    yes,
    force,
    ...(baseline !== undefined && { baseline }),
    ...(project !== undefined && { project }),
    signal: stop.signal,
    onProgress: progress.show,
    onReview(review) {
      progress.end();
      if (!json) out(context, `${updateReviewText(review, { withDiff: dryRun }, style)}\n`);
    },
  };
  const outcome = await metier.update(request, canAsk ? askAboutUpdates(context, style) : {}).finally(() => {
    release();
    progress.end();
  });
  if (!outcome.ok) throw toError(outcome.fault);
  if (accepting !== undefined) {
    const found = outcome.reviews.map(({ name, summary }) => ({ name, findings: summary.findings }));
    acceptFindings(context, accepting, found);
    return;
  }
  if (json) outJson(context, resultJson(outcome));
  else {
    out(context, updatedText(outcome, dryRun, style));
    err(context, notUpdatedText(outcome, style));
  }
  const [failure] = outcome.skipped.flatMap(({ code }) => (isFault(code) ? [code] : []));
  if (failure !== undefined) endWith(context, ERROR_CODES[failure]);
  else if (outcome.diagnostics.some(({ severity }) => severity === "error")) endWith(context, EXIT.no);
  if (!canAsk || dryRun) return;
  const lost = outcome.updated.filter(({ losesTrust }) => losesTrust);
  await offerTrust(
    context,
    metier,
    lost.map(({ name, to, path }) => ({ name, digest: to.digest, path })),
  );
}

type FaultCode = Exclude<NotUpdated["code"], "current" | "pinned" | "local" | "kept">;

function isFault(code: NotUpdated["code"]): code is FaultCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** Where nothing came of it, the reason is also the error that every command has. */
function resultJson({ updated, skipped, reviews, diagnostics }: UpdateResult): object {
  const failure = skipped.find(({ code }) => isFault(code));
  const error = failure && {
    code: failure.code,
    message: failure.reason,
    ...(failure.hint && { hint: failure.hint }),
  };
  return {
    updated,
    skipped,
    reviews,
    diagnostics,
    ...(updated.length === 0 && error && { error }),
  };
}
