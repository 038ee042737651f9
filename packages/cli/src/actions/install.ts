/**
 * `metier install`: installs skills from a source, or restores the locks; asks only in a terminal. Also `update`,
 * which takes new versions one by one, `outdated`, which lists them, `rollback`, `verify`, which checks the disk
 * against the locks and against trust, and `remove`.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hasErrors } from "@metier/base/diagnostic";
import { ERROR_CODES, EXIT, type ExitCode, MetierError, UsageError } from "@metier/base/errors";
import { writeAtomic } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import {
  type InstallFault,
  type InstallOutcome,
  type InstallRequest,
  type InstallReview,
  isFailure,
  type NotUpdated,
  type OutdatedSkill,
  type UpdateRequest,
} from "@metier/install";
import { type Finding, loadBaseline, renderBaseline } from "@metier/scan";
import type { Action } from "../commands/define.ts";
import type {
  InstallFlags,
  OutdatedFlags,
  RemoveFlags,
  RollbackFlags,
  UpdateFlags,
  VerifyFlags,
} from "../commands/managing.ts";
import {
  type CliContext,
  endWith,
  err,
  fit,
  out,
  outJson,
  reply,
  savingMemory,
  withInterrupt,
} from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { doneText, failuresText, installedText } from "../output/install-text.ts";
import { createProgressLine } from "../output/progress.ts";
import { isSummarized, reviewText } from "../output/review-text.ts";
import { count, type Style, styleFor } from "../output/style.ts";
import { areSummarized, updateReviewText, updatesSummaryText } from "../output/update-review-text.ts";
import {
  notUpdatedText,
  outdatedText,
  updatedText,
  verifiedText,
  versionText,
} from "../output/update-text.ts";
import { askAboutUpdates, askInTerminal, offerTrust } from "./install-questions.ts";

export const installAction: Action<InstallFlags, [source?: string]> = async (context, flags, source) => {
  const { io } = context;
  const style = styleFor(io.color);
  const metier = await openMetier(context, flags);
  const accepting = flags.writeBaseline && resolve(workingDirectory(context, flags), flags.writeBaseline);
  const canAsk = io.interactive && !flags.json && !flags.yes;
  const progress = createProgressLine(io.stderr);
  let review: InstallReview | undefined;
  const request: InstallRequest = {
    ...toRequest(flags, source),
    onProgress: progress.show,
    onReview(shown) {
      progress.end();
      review = shown;
      if (flags.json) return;
      out(context, fit(context, `${reviewText(shown, style)}\n`));
      if (!canAsk && isSummarized(shown)) out(context, "`--dry-run --json` shows every skill in full.\n");
    },
  };
  const decisions = canAsk ? askInTerminal(context, metier, progress) : {};
  const install = (signal: AbortSignal): Promise<InstallOutcome> =>
    metier.install({ ...request, signal }, decisions);
  const outcome = await savingMemory(context, () => withInterrupt(context, install)).finally(progress.end);
  if (!outcome.ok) throw toError(outcome.fault);
  if (accepting !== undefined) {
    const found = Map.groupBy(outcome.findings, ({ skill }) => skill);
    acceptFindings(
      context,
      accepting,
      [...found].map(([name, findings]) => ({ name, findings })),
    );
    return;
  }
  if (flags.json) {
    const { installed, skipped, findings, diagnostics } = outcome;
    const error = installed.length === 0 ? errorJson(skipped.find(isFailure)) : undefined;
    const seen = flags.dryRun ? review : undefined;
    outJson(context, { installed, skipped, findings, diagnostics, review: seen, error });
  } else {
    out(context, fit(context, installedText(outcome, { ...flags, source }, metier.catalog, style)));
    err(context, fit(context, failuresText(outcome, style), io.stderr));
  }
  const [failure] = outcome.skipped.filter(isFailure);
  if (failure) endWith(context, ERROR_CODES[failure.code]);
  else if (hasErrors(outcome.diagnostics)) endWith(context, EXIT.no);
  if (canAsk && !flags.dryRun) await offerTrust(context, metier, outcome.installed);
};

function toRequest(flags: InstallFlags, source: string | undefined): InstallRequest {
  const { ref, skill, all, name, agent, project, copy, link, force, frozen, yes, baseline } = flags;
  const skills = [...(skill ?? []), ...(all ? ["*"] : [])];
  const agents = agent?.map((id) => id.trim()).filter((id) => id !== "");
  const dryRun = flags.dryRun || flags.writeBaseline !== undefined;
  return {
    ...presentFields({ source, ref, name, baseline, agents, skills: skills.length > 0 ? skills : undefined }),
    ...{ project, copy, link, force, frozen, dryRun, yes },
  };
}

/** If nothing was installed, the reason is also the command's error. */
function errorJson(
  failure: { readonly code: string; readonly reason: string; readonly hint?: string | undefined } | undefined,
): object | undefined {
  return failure && { code: failure.code, message: failure.reason, hint: failure.hint || undefined };
}

export const removeAction: Action<RemoveFlags> = async (context, flags, ...names) => {
  const { project, force, data } = flags;
  const metier = await openMetier(context, flags);
  const outcome = await metier.remove(names, { project, force, data });
  if (!outcome.ok) throw toError(outcome.fault);
  const { removed, diagnostics } = outcome;
  const text = ({ green }: Style): string =>
    removed.map(({ name }) => `${green("✓")} ${safeLine(name)}: removed`).join("\n");
  reply(context, flags, { removed, diagnostics }, text, diagnostics);
};

/** `--write-baseline`: adds the scan's findings on fetched skills to those accepted before. `file` is absolute. */
function acceptFindings(
  context: CliContext,
  file: string,
  found: readonly { readonly name: string; readonly findings: readonly Finding[] }[],
): void {
  const before = existsSync(file) ? loadBaseline(file) : undefined;
  if (before && !before.ok) throw new UsageError(before.refusal.message, { hint: before.refusal.hint });
  const places = found.map((skill) => ({ ...skill, directory: "", isInstalled: true }));
  writeAtomic(file, renderBaseline(file, places, before?.value));
  const accepted = found.reduce((sum, { findings }) => sum + findings.length, 0);
  err(context, `Accepted ${count(accepted, "finding")} in ${safeLine(file)}. Nothing was installed.`);
}

/** Why nothing was installed, as the error that ends the command. */
function toError({ code, message, hint }: InstallFault): MetierError {
  return new MetierError(code, message, { hint });
}

export const updateAction: Action<UpdateFlags> = async (context, flags, ...skills) => {
  const { io } = context;
  const { project, yes, force, json, baseline, writeBaseline } = flags;
  const accepting = writeBaseline && resolve(workingDirectory(context, flags), writeBaseline);
  const dryRun = flags.dryRun || accepting !== undefined;
  const style = styleFor(io.color);
  const metier = await openMetier(context, flags);
  const canAsk = io.interactive && !json && !yes;
  const progress = createProgressLine(io.stderr);
  let isTogether = false;
  const request: UpdateRequest = {
    skills,
    dryRun,
    yes,
    force,
    ...presentFields({ baseline, project }),
    onProgress: progress.show,
    onReviews(reviews) {
      progress.end();
      isTogether = areSummarized(reviews);
      if (json || !isTogether) return;
      out(context, fit(context, `${updatesSummaryText(reviews, style)}\n`));
      if (dryRun) out(context, "`metier update <skill> --dry-run` shows one update with its diff.\n");
    },
    onReview(review) {
      if (!json && !isTogether) out(context, `${updateReviewText(review, { withDiff: dryRun }, style)}\n`);
    },
  };
  const onEach = (): void => {
    isTogether = false;
  };
  const decisions = canAsk ? askAboutUpdates(context, metier, onEach) : {};
  const outcome = await withInterrupt(context, (signal) =>
    metier.update({ ...request, signal }, decisions),
  ).finally(progress.end);
  if (!outcome.ok) throw toError(outcome.fault);
  if (accepting !== undefined) {
    const found = outcome.reviews.map(({ name, summary }) => ({ name, findings: summary.findings }));
    acceptFindings(context, accepting, found);
    return;
  }
  if (json) {
    const { updated, skipped, reviews, diagnostics } = outcome;
    const error = updated.length === 0 ? errorJson(skipped.find(({ code }) => isFault(code))) : undefined;
    outJson(context, { updated, skipped, reviews, diagnostics, error });
  } else {
    out(context, fit(context, updatedText(outcome, dryRun, style)));
    err(context, fit(context, notUpdatedText(outcome, style), io.stderr));
  }
  const [failure] = outcome.skipped.flatMap(({ code }) => (isFault(code) ? [code] : []));
  if (failure !== undefined) endWith(context, ERROR_CODES[failure]);
  else if (hasErrors(outcome.diagnostics)) endWith(context, EXIT.no);
  if (!canAsk || dryRun) return;
  const lost = outcome.updated.filter(({ losesTrust }) => losesTrust);
  const installed = lost.map(({ name, to, path }) => ({ name, digest: to.digest, path }));
  await offerTrust(context, metier, installed);
};

type FaultCode = Exclude<NotUpdated["code"], "current" | "pinned" | "local" | "kept">;

function isFault(code: NotUpdated["code"]): code is FaultCode {
  return Object.hasOwn(ERROR_CODES, code);
}

export const outdatedAction: Action<OutdatedFlags> = async (context, flags, ...skills) => {
  const metier = await openMetier(context, flags);
  const progress = createProgressLine(context.io.stderr);
  const request = { skills, ...presentFields({ project: flags.project }), onProgress: progress.show };
  const outcome = await withInterrupt(context, (signal) => metier.outdated({ ...request, signal })).finally(
    progress.end,
  );
  if (!outcome.ok) throw toError(outcome.fault);
  const { skills: found } = outcome;
  reply(context, flags, { skills: found }, (style) => fit(context, outdatedText(found, style)));
  endWith(context, exitCodeOf(found));
};

function exitCodeOf(skills: readonly OutdatedSkill[]): ExitCode {
  if (skills.some(({ status }) => status === "outdated" || status === "missing")) return EXIT.no;
  return skills.some(({ status }) => status === "failed") ? EXIT.failed : EXIT.done;
}

export const rollbackAction: Action<RollbackFlags, [skill: string]> = async (context, flags, skill) => {
  const { project, force } = flags;
  const metier = await openMetier(context, flags);
  const progress = createProgressLine(context.io.stderr);
  const outcome = await metier
    .rollback(skill, { force, ...presentFields({ project }), onProgress: progress.show })
    .finally(progress.end);
  if (!outcome.ok) throw toError(outcome.fault);
  const { ok: _, ...result } = outcome;
  const { name, from, to, kept, diagnostics } = result;
  const trust = metier.get(`installed:${name}`)?.trust;
  const notes = [
    ...(trust?.level === "untrusted" ? [`untrusted: ${trust.reason}`] : []),
    ...kept.map((folder) => `your changes are kept in ${folder}`),
  ];
  const what = `${safeLine(name)} is back at ${versionText(to)}, from ${versionText(from)}`;
  reply(context, flags, result, (style) => doneText(what, notes, style), diagnostics);
};

export const verifyAction: Action<VerifyFlags> = async (context, flags, ...skills) => {
  const { project } = flags;
  const metier = await openMetier(context, flags, { autoDiscover: false });
  const progress = createProgressLine(context.io.stderr);
  const request = { skills, ...presentFields({ project }), onProgress: progress.show };
  const report = await metier.verify(request).finally(progress.end);
  if (report.fault) throw toError(report.fault);
  reply(context, flags, report, (style) => fit(context, verifiedText(report, style)));
  if (!report.ok) endWith(context, EXIT.no);
};
