/**
 * What a new version of a skill can do, asks for or points to that the old one did not, and whether it is installed: by
 * the user's decision, otherwise by rules that never let in anything new without a review. Having less is not a risk,
 * with one exception: lifting limits that a skill set itself.
 */
import { join } from "node:path";
import { readBounded } from "@metier/base/files";
import { compareText } from "@metier/base/text";
import { isAtLeast } from "@metier/scan";
import { blockingFindings } from "@metier/scan/engine";
import type { SkillManifest } from "@metier/skills";
import type { IdentifiedFile } from "@metier/skills/trust";
import type { ValidSkill } from "../plan-skill.ts";
import {
  type InstallParts,
  isRisky,
  type NewRisk,
  type NotUpdated,
  RISK_KINDS,
  type UpdateDecisions,
  type UpdateRequest,
  type UpdateReview,
} from "../requests.ts";
import { refuseBlocked, type SkillSummary } from "../review-skills.ts";

/** One version of a skill, described. */
export interface DescribedVersion extends Pick<ValidSkill, "manifest" | "directory" | "files"> {
  readonly summary: SkillSummary;
}

/** Without `before`, everything is new. */
export function findRisks(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const risks = [
    ...newFiles(before, after),
    ...newWords(before?.summary, after.summary),
    ...newHooks(before?.manifest, after.manifest),
    ...newUrls(before, after),
    ...(before ? liftedLimits(before.manifest, after.manifest) : []),
  ];
  const unique = new Map(risks.map((risk) => [`${risk.kind}\0${risk.what}`, risk]));
  return [...unique.values()].sort(
    (a, b) => RISK_KINDS.indexOf(a.kind) - RISK_KINDS.indexOf(b.kind) || compareText(a.what, b.what),
  );
}

/** Files that can run, pull something in, or stand for other files. */
function newFiles(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const old = new Map(before?.files.map((file) => [file.path, file]));
  const programs = new Map(
    after.summary.scripts.flatMap(({ language, paths }) =>
      paths.map((path) => [path, language === "binary" ? "binary" : "script"] as const),
    ),
  );
  const { dependencies, mcp } = after.summary;
  return after.files.flatMap((file): readonly NewRisk[] => {
    const known = old.get(file.path);
    const kind = kindOf(file, programs, dependencies, mcp);
    if (kind !== undefined && known?.digest !== file.digest) {
      return [{ kind, what: file.path, change: known ? "changed" : "added" }];
    }
    const isExecutable = file.executable && known !== undefined && !known.executable;
    return isExecutable ? [{ kind: "executable", what: file.path, change: "changed" }] : [];
  });
}

function kindOf(
  { path, kind }: IdentifiedFile,
  programs: ReadonlyMap<string, "binary" | "script">,
  dependencies: readonly string[],
  mcp: readonly string[],
): NewRisk["kind"] | undefined {
  if (kind === "link") return "link";
  if (dependencies.includes(path)) return "dependency";
  if (mcp.includes(path)) return "mcp";
  return programs.get(path);
}

const LISTS = [
  ["tool", "allowedTools"],
  ["tool", "requiredTools"],
  ["env", "env"],
  ["network", "network"],
  ["read", "reads"],
  ["write", "writes"],
  ["package", "packages"],
  ["capability", "capabilities"],
  ["toolset", "toolsets"],
  ["command", "commands"],
] as const;

/** Entries of the lists that a skill declares, and commands in its text. */
function newWords(before: SkillSummary | undefined, after: SkillSummary): readonly NewRisk[] {
  return LISTS.flatMap(([kind, list]) =>
    after[list]
      .filter((what) => !before?.[list].includes(what))
      .map((what) => ({ kind, what, change: "added" }) as const),
  );
}

function newHooks(before: SkillManifest | undefined, after: SkillManifest): readonly NewRisk[] {
  return Object.entries(after.hooks ?? {}).flatMap(([what, hook]): readonly NewRisk[] => {
    const known = before?.hooks?.[what];
    if (known === undefined) return [{ kind: "hook", what, change: "added" }];
    return JSON.stringify(known) === JSON.stringify(hook) ? [] : [{ kind: "hook", what, change: "changed" }];
  });
}

const MAX_TEXT_BYTES = 1024 * 1024;
const MOST_URLS = 100;
const MAX_URL = 300;
const URL_IN_TEXT = /\b(?:https?|wss?|ftp|ssh|git):\/\/[^\s"'`<>\\()[\]{}|^]+/gi;

/** Addresses anywhere in its texts; only new files are read. */
function newUrls(before: DescribedVersion | undefined, after: DescribedVersion): readonly NewRisk[] {
  const same = new Set(before?.files.map(({ path, digest }) => `${path}\0${digest}`));
  const changed = after.files.filter(({ path, digest }) => !same.has(`${path}\0${digest}`));
  const found = new Set(changed.flatMap((file) => urlsIn(after.directory, file)));
  if (found.size === 0) return [];
  const known = new Set(before?.files.flatMap((file) => urlsIn(before.directory, file)));
  return [...found]
    .filter((url) => !known.has(url))
    .sort(compareText)
    .slice(0, MOST_URLS)
    .map((what) => ({ kind: "url", what, change: "added" }));
}

function urlsIn(directory: string, { path, kind }: IdentifiedFile): readonly string[] {
  if (kind === "link") return [];
  const read = readBounded(join(directory, path), MAX_TEXT_BYTES);
  if (!read.ok) return [];
  return (read.text.match(URL_IN_TEXT) ?? []).map((url) =>
    url.replace(/[.,;:!?*_~]+$/, "").slice(0, MAX_URL),
  );
}

function liftedLimits(before: SkillManifest, after: SkillManifest): readonly NewRisk[] {
  const limited = (before.allowedTools ?? before.requiredTools).length > 0;
  const isUnlimited = limited && (after.allowedTools ?? after.requiredTools).length === 0;
  const allowedAgain = before.disallowedTools.filter((tool) => !after.disallowedTools.includes(tool));
  const tools = [
    ...(isUnlimited ? ["allowed-tools"] : []),
    ...allowedAgain.map((tool) => `disallowed-tools: ${tool}`),
  ];
  const switches = SWITCHES.filter(([field]) => before[field] && !after[field]).map(([, what]) => what);
  return [
    ...tools.map((what) => ({ kind: "tool", what, change: "lifted" }) as const),
    ...switches.map((what) => ({ kind: "invocation", what, change: "lifted" }) as const),
  ];
}

const SWITCHES = [
  ["disableModelInvocation", "disable-model-invocation"],
  ["optIn", "opt-in"],
  ["sensitive", "sensitive"],
] as const;

export function isBlocked({ summary }: UpdateReview, { scan }: InstallParts): boolean {
  return blockingFindings(summary.findings, scan).length > 0;
}

type Decision = "take" | "abort" | NotUpdated;

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
    const reason = `\`${edited.folder}\` was edited${listConflicts(review)}.`;
    const hint =
      "Decide in a terminal, or install the new version with `--force`, which keeps your edits elsewhere.";
    return skip(review, "install.conflict", reason, hint);
  }
  if (yes || !isRisky(review)) return "take";
  const hint = "See everything with `--dry-run`; install it with `--yes`, or decide in a terminal.";
  const reason = `The new version brings ${listNew(review)}, and there is no terminal to ask in, so it was not installed.`;
  return skip(review, "install.unreviewed", reason, hint);
}

function listConflicts({ conflicts }: UpdateReview): string {
  return conflicts.length === 0 ? "" : `, and the source changed the same files (${listSome(conflicts)})`;
}

function listNew({ risks, newFindings, isMovedTag, isBaseMissing }: UpdateReview): string {
  if (isBaseMissing)
    return "changes that cannot be compared, because the installed version is no longer available";
  const ids = newFindings.filter(({ severity }) => isAtLeast(severity, "high")).map(({ id }) => id);
  const named = [...risks.map(({ kind, what }) => `${kind} ${what}`), ...ids];
  return [...(isMovedTag ? ["a moved tag"] : []), ...(named.length > 0 ? [listSome(named)] : [])].join(
    " and ",
  );
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
  return { name, lock, code, reason, hint };
}
