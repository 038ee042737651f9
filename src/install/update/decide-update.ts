/** Whether an update is taken: by whoever can be asked, else by rules that never let something new in unseen. */
import { isAtLeast } from "../../scan/finding.ts";
import { blockingFindings } from "../../scan/scan-policy.ts";
import type { InstallParts } from "../install-request.ts";
import { needsReview, refuseBlocked } from "../scan-fetched.ts";
import type { NotUpdated, UpdateDecisions, UpdateRequest, UpdateReview } from "../update-request.ts";

export type Decision = "take" | "abort" | NotUpdated;

export async function decideUpdate(
  review: UpdateReview,
  request: UpdateRequest,
  { decide }: UpdateDecisions,
  { scan }: InstallParts,
): Promise<Decision> {
  const blocking = blockingFindings(review.summary.findings, scan);
  if (blocking.length > 0) {
    const { reason, hint } = refuseBlocked(review.name, blocking);
    return skip(review, "install.blocked", reason, hint);
  }
  if (request.dryRun) return decideAlone(review, { ...request, yes: true });
  if (decide === undefined) return decideAlone(review, request);
  const answer = await decide(review);
  return answer === "keep" ? skip(review, "kept", "It stays as it is.") : answer;
}

/** Nobody can be asked. */
function decideAlone(review: UpdateReview, { yes, force }: UpdateRequest): Decision {
  const [edited] = review.local;
  if (edited !== undefined && !force) {
    const hint =
      "Decide in a terminal, or take the new version with `--force`: what was changed is kept elsewhere.";
    return skip(
      review,
      "install.conflict",
      `\`${edited.folder}\` was changed by hand${listConflicts(review)}.`,
      hint,
    );
  }
  if (yes || !isRisky(review)) return "take";
  const hint = "`--dry-run` shows all of it; take it with `--yes`, or decide in a terminal.";
  const reason = `The new version brings ${listNew(review)}, and there is no terminal to ask in; so the answer is no.`;
  return skip(review, "install.unreviewed", reason, hint);
}

export function isRisky({ risks, newFindings, isMovedTag, isBaseMissing }: UpdateReview): boolean {
  return risks.length > 0 || needsReview(newFindings) || isMovedTag || isBaseMissing;
}

function listConflicts({ conflicts }: UpdateReview): string {
  return conflicts.length === 0 ? "" : `, and the source changed the same (${listSome(conflicts)})`;
}

function listNew({ risks, newFindings, isMovedTag, isBaseMissing }: UpdateReview): string {
  if (isBaseMissing) return "what cannot be compared, since the installed version can no longer be had";
  const ids = newFindings.filter(({ severity }) => isAtLeast(severity, "high")).map(({ id }) => id);
  const named = [...risks.map(({ kind, what }) => `${kind} ${what}`), ...ids];
  return [
    ...(isMovedTag ? ["a tag that was moved"] : []),
    ...(named.length > 0 ? [listSome(named)] : []),
  ].join(" and ");
}

const MOST_NAMED = 4;

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function skip(
  { name, lock }: UpdateReview,
  code: NotUpdated["code"],
  reason: string,
  hint?: string,
): NotUpdated {
  return { name, lock, code, reason, ...(hint !== undefined && { hint }) };
}
