/** An update for people: what changed at the source and here, what is new in risk, and what came of it. */
import type { VersionMark } from "../../install/outdated.ts";
import type {
  NewRisk,
  NotUpdated,
  UpdatedSkill,
  UpdateResult,
  UpdateReview,
} from "../../install/update-request.ts";
import type { FileChange } from "../../trust/content-identity.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { findingText } from "./review-text.ts";
import { count, cutText, type Style, safeLine, safeText } from "./style.ts";

const WIDTH = 110;
const MOST_LINES = 30;

export function updateReviewText(
  review: UpdateReview,
  { withDiff }: { readonly withDiff: boolean },
  style: Style,
): string {
  const { name, source, from, to, upstream, diff } = review;
  const files = upstream.map(({ path, change, added, removed }) => {
    const lines = added === undefined ? "" : `  ${style.green(`+${added}`)} ${style.red(`-${removed}`)}`;
    return `    ${CHANGE_MARKS[change]} ${safeLine(path)}${lines}`;
  });
  return [
    `${style.bold(safeLine(name))}  ${versionText(from)} → ${versionText(to)}`,
    `  ${style.dim(cutText(source, WIDTH))}`,
    `  Changed at the source: ${count(upstream.length, "file")}`,
    ...cutLines(files),
    ...localLines(review, style),
    ...riskLines(review, style),
    ...noteLines(review, style),
    ...(withDiff ? [diffText(diff, style)] : []),
  ].join("\n");
}

const CHANGE_MARKS: Readonly<Record<FileChange["change"], string>> = {
  added: "A",
  removed: "D",
  changed: "M",
  mode: "X",
};

/** A commit or digest by its beginning, a version whole. */
export function versionText({ version, resolved }: VersionMark): string {
  const [first = ""] = resolved.split(" ");
  const short = /^[0-9a-f]{40,}$/.test(first)
    ? first.slice(0, 10)
    : first.replace(/^(sha256:.{10}).*/, "$1…");
  return safeLine(version === undefined || first === version ? short : `${version} (${short})`);
}

function localLines({ local, conflicts }: UpdateReview, style: Style): readonly string[] {
  return [
    ...local.map(({ folder, files }) => {
      const paths = files.map(({ path, change }) => `${CHANGE_MARKS[change]} ${path}`).join(", ");
      return `  ${style.yellow("Changed by hand")} in ${safeLine(folder)}: ${cutText(paths, WIDTH)}`;
    }),
    ...(conflicts.length > 0
      ? [`  ${style.red("Changed in both ways")}: ${cutText(conflicts.join(", "), WIDTH)}`]
      : []),
  ];
}

function riskLines({ risks, newFindings }: UpdateReview, style: Style): readonly string[] {
  if (risks.length + newFindings.length === 0) return [`  ${style.green("Nothing new in risk")}`];
  const lines = risks.map((risk) => `    ${riskText(risk, style)}`);
  return [
    `  ${style.yellow("New in risk:")}`,
    ...cutLines(lines),
    ...cutLines(newFindings.map((finding) => `    ${findingText(finding, style)}`)),
  ];
}

function riskText({ kind, what, change }: NewRisk, style: Style): string {
  const words = { added: "", changed: " (changed)", lifted: " (no longer set)" };
  return `${style.yellow(kind.padEnd(10))} ${cutText(what, WIDTH)}${words[change]}`;
}

function noteLines(
  { name, isMovedTag, isBaseMissing, losesTrust, ref = "" }: UpdateReview,
  style: Style,
): readonly string[] {
  return [
    ...(isMovedTag ? [`The tag ${ref} was moved; whoever keeps the source replaced what it stood for.`] : []),
    ...(isBaseMissing
      ? ["The installed version can no longer be had, so that everything counts as new."]
      : []),
    ...(losesTrust
      ? [`You trust the installed version; the new one needs \`metier trust ${name}\` again.`]
      : []),
  ].map((note) => `  ${style.yellow("!")} ${safeLine(note)}`);
}

function cutLines(lines: readonly string[]): readonly string[] {
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `    and ${more} more`] : lines;
}

export function diffText(diff: string, style: Style): string {
  return diff
    .split("\n")
    .map((line) => {
      const text = `  | ${safeText(line)}`; // Marked, so that no text of a skill passes for a line of ours.
      if (/^(?:\+\+\+|---|@@)/.test(line)) return style.bold(text);
      return line.startsWith("+") ? style.green(text) : line.startsWith("-") ? style.red(text) : text;
    })
    .join("\n");
}

const FINE: readonly NotUpdated["code"][] = ["current", "pinned", "local", "kept"];

export function updatedText({ updated, skipped }: UpdateResult, isDry: boolean, style: Style): string {
  const lines = [
    ...updated.map((skill) => (isDry ? plannedText(skill) : doneText(skill, style))),
    ...skipped
      .filter(({ code }) => FINE.includes(code))
      .map(
        ({ name, code, reason }) =>
          `${style.dim("·")} ${safeLine(`${name} is ${WORDS[code] ?? code}. ${reason}`)}`,
      ),
  ];
  return lines.length > 0 || skipped.length > 0 ? lines.join("\n") : "No skill is installed here.";
}

const WORDS: Readonly<Partial<Record<NotUpdated["code"], string>>> = {
  current: "up to date",
  local: "linked",
};

function plannedText({ name, from, to }: UpdatedSkill): string {
  return `+ ${safeLine(name)} would be updated, ${versionText(from)} → ${versionText(to)}`;
}

function doneText({ name, from, to, losesTrust, kept }: UpdatedSkill, style: Style): string {
  const notes = [
    ...(losesTrust ? [`untrusted now: look at it, then \`metier trust ${name}\` trusts it again`] : []),
    ...kept.map((folder) => `what was changed by hand is kept in ${folder}`),
    `\`metier rollback ${name}\` goes back`,
  ];
  const first = `${style.green("✓")} ${safeLine(name)} is updated, ${versionText(from)} → ${versionText(to)}`;
  return [first, ...notes.map((note) => `    ${style.dim(safeLine(note))}`)].join("\n");
}

export function notUpdatedText({ skipped, diagnostics }: UpdateResult, style: Style): string {
  return [
    ...skipped
      .filter(({ code }) => !FINE.includes(code))
      .map(({ name, reason, hint }) =>
        [
          `${style.red("✗")} ${safeLine(`${name}: ${reason}`)}`,
          ...(hint === undefined ? [] : [`    ${style.dim(`→ ${safeLine(hint)}`)}`]),
        ].join("\n"),
      ),
    ...diagnostics
      .filter(({ severity }) => severity !== "info")
      .map((diagnostic) => diagnosticText(diagnostic, style)),
  ].join("\n");
}
