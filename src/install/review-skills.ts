/** The look before the leap: every planned skill is scanned and described, and whoever can be asked decides. */
import { blockingFindings } from "../scan/scan-policy.ts";
import type {
  InstallDecisions,
  InstallParts,
  InstallRequest,
  InstallReview,
  ReviewedSkill,
  SkillFinding,
  SkippedSkill,
} from "./install-request.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import { needsReview, refuseBlocked, scanFolder } from "./scan-fetched.ts";
import { summariseSkill } from "./summarise.ts";

export interface ReviewContext extends Pick<InstallReview, "source" | "resolved"> {
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
}

export interface ReviewOutcome {
  readonly agreed: readonly PlannedSkill[];
  readonly skipped: readonly SkippedSkill[];
  readonly findings: readonly SkillFinding[];
}

interface Looked {
  readonly plan: PlannedSkill;
  readonly shown: ReviewedSkill;
}

export async function reviewSkills(
  planned: readonly PlannedSkill[],
  context: ReviewContext,
): Promise<ReviewOutcome> {
  const { request, parts } = context;
  const looked: Looked[] = [];
  for (const [done, plan] of planned.entries()) {
    request.onProgress?.({ what: "Scanning", done, total: planned.length });
    looked.push({ plan, shown: await lookAt(plan, parts) });
  }
  const findings = looked.flatMap(({ shown }) =>
    shown.findings.map((finding) => ({ skill: shown.called, ...finding })),
  );
  const blocked = looked.filter(({ shown }) => blockingFindings(shown.findings, parts.scan).length > 0);
  const open = looked.filter((entry) => !blocked.includes(entry));
  const answered = await ask(open, context);
  return {
    ...answered,
    findings,
    skipped: [
      ...blocked.map(({ shown }) =>
        refuseBlocked(shown.called, blockingFindings(shown.findings, parts.scan)),
      ),
      ...answered.skipped,
    ],
  };
}

async function lookAt(
  { skill, called, replaces }: PlannedSkill,
  parts: InstallParts,
): Promise<ReviewedSkill> {
  const scan = await scanFolder(skill.directory, called, parts.scan);
  return { ...summariseSkill(skill, scan), called, ...(replaces && { replaces }) };
}

async function ask(
  looked: readonly Looked[],
  { request, decisions, source, resolved }: ReviewContext,
): Promise<Pick<ReviewOutcome, "agreed" | "skipped">> {
  const all = { agreed: looked.map(({ plan }) => plan), skipped: [] };
  if (looked.length === 0) return all;
  const review: InstallReview = { source, resolved, skills: looked.map(({ shown }) => shown) };
  request.onReview?.(review);
  if (request.dryRun) return all;
  if (decisions.review) {
    const isAgreed = await decisions.review(review);
    return isAgreed ? all : { agreed: [], skipped: looked.map(({ shown }) => declined(shown)) };
  }
  if (request.yes) return all;
  const doubtful = looked.filter(({ shown }) => needsReview(shown.findings));
  return {
    agreed: looked.filter((entry) => !doubtful.includes(entry)).map(({ plan }) => plan),
    skipped: doubtful.map(({ shown }) => refuseUnreviewed(shown)),
  };
}

function declined({ called }: ReviewedSkill): SkippedSkill {
  return { name: called, code: "install.declined", reason: "You did not want it." };
}

function refuseUnreviewed({ called, findings }: ReviewedSkill): SkippedSkill {
  const ids = [...new Set(findings.filter((finding) => needsReview([finding])).map(({ id }) => `\`${id}\``))];
  return {
    name: called,
    code: "install.unreviewed",
    reason: `The scan found ${ids.join(", ")}, and there is no terminal to ask in; so the answer is no.`,
    hint: "Look at the findings, then use `--yes`, or run the command in a terminal.",
  };
}
