/** `metier install`: a source becomes installed skills, or the locks are restored; questions only in a terminal. */
import { resolve } from "node:path";
import { ERROR_CODES } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import {
  type InstallReport,
  type InstallRequest,
  type InstallReview,
  isFailure,
} from "../../install/install-request.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { acceptFindings } from "../install/accept-findings.ts";
import { offerTrust } from "../install/offer-trust.ts";
import { askInTerminal } from "../install/questions.ts";
import { toError } from "../install/to-error.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { createFetchProgress } from "../output/fetch-progress.ts";
import { failuresText, installedText } from "../output/install-text.ts";
import { reviewText } from "../output/review-text.ts";
import { styleFor } from "../output/style.ts";

export interface InstallFlags extends CommonFlags {
  readonly ref?: string;
  readonly skill?: readonly string[];
  readonly all: boolean;
  readonly name?: string;
  readonly agent?: readonly string[];
  readonly project: boolean;
  readonly copy: boolean;
  readonly link: boolean;
  readonly force: boolean;
  readonly frozen: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly baseline?: string;
  readonly writeBaseline?: string;
}

export async function run(context: CliContext, flags: InstallFlags, source?: string): Promise<void> {
  const { io } = context;
  const style = styleFor(io.color);
  const metier = await openMetier(context, flags);
  const accepting = flags.writeBaseline && resolve(workingDirectory(context, flags), flags.writeBaseline);
  const canAsk = io.interactive && !flags.json && !flags.yes;
  const progress = createFetchProgress(io.stderr);
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  let review: InstallReview | undefined;
  const request: InstallRequest = {
    ...toRequest(flags, source),
    signal: stop.signal,
    onProgress: progress.show,
    onReview(shown) {
      progress.end();
      review = shown;
      if (!flags.json) out(context, `${reviewText(shown, style)}\n`);
    },
  };
  const outcome = await metier
    .install(request, canAsk ? askInTerminal(context, progress) : {})
    .finally(() => {
      release();
      progress.end();
    });
  if (!outcome.ok) throw toError(outcome.fault);
  if (accepting !== undefined) {
    const names = [...new Set(outcome.findings.map(({ skill }) => skill))];
    const found = names.map((name) => {
      return { name, findings: outcome.findings.filter(({ skill }) => skill === name) };
    });
    acceptFindings(context, accepting, found);
    return;
  }
  if (flags.json) outJson(context, resultJson(outcome, flags.dryRun ? review : undefined));
  else {
    out(context, installedText(outcome, { ...flags, source }, metier.catalog, style));
    err(context, failuresText(outcome, style));
  }
  const [failure] = outcome.skipped.filter(isFailure);
  if (failure) endWith(context, ERROR_CODES[failure.code]);
  else if (outcome.diagnostics.some(({ severity }) => severity === "error")) endWith(context, EXIT.no);
  if (canAsk && !flags.dryRun) await offerTrust(context, metier, outcome.installed);
}

function toRequest(flags: InstallFlags, source: string | undefined): InstallRequest {
  const { ref, skill, all, name, agent, project, copy, link, force, frozen, yes, baseline } = flags;
  const skills = [...(skill ?? []), ...(all ? ["*"] : [])];
  return {
    ...(source !== undefined && { source }),
    ...(ref !== undefined && { ref }),
    ...(skills.length > 0 && { skills }),
    ...(name !== undefined && { name }),
    ...(agent !== undefined && { agents: agent.map((id) => id.trim()).filter((id) => id !== "") }),
    project,
    copy,
    link,
    force,
    frozen,
    dryRun: flags.dryRun || flags.writeBaseline !== undefined,
    yes,
    ...(baseline !== undefined && { baseline }),
  };
}

/** Where nothing came of it, the reason is also the error that every command has. */
function resultJson(
  { installed, skipped, findings, diagnostics }: InstallReport,
  review?: InstallReview,
): object {
  const [failure] = skipped.filter(isFailure);
  const error = failure && {
    code: failure.code,
    message: failure.reason,
    ...(failure.hint && { hint: failure.hint }),
  };
  return {
    installed,
    skipped,
    findings,
    diagnostics,
    ...(review && { review }),
    ...(installed.length === 0 && error && { error }),
  };
}
