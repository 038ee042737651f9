/**
 * What an update would change, for the person who decides. A few skills are shown with their files and new risks; many
 * are summarized on one screen with counts, and those with new risks in full. `fullUpdatesText` has everything, for a
 * pager.
 */
import { safeLine, safeText } from "@metier/base/text";
import { isRisky, type NewRisk, type UpdateReview } from "@metier/install";
import type { FileChange } from "@metier/skills/trust";
import { namesText } from "./install-text.ts";
import { FULL_UP_TO, findingText, MOST_RISKY } from "./review-text.ts";
import { count, cutText, type Style } from "./style.ts";
import { versionText } from "./update-text.ts";

const WIDTH = 110;
const MOST_LINES = 30;
const LABEL_WIDTH = 16;

/** Above this number, updates are summarized. */
export function areSummarized(reviews: readonly UpdateReview[]): boolean {
  return reviews.length > FULL_UP_TO;
}

export function fullUpdatesText(reviews: readonly UpdateReview[], style: Style): string {
  return reviews.map((review) => updateReviewText(review, { withDiff: true }, style)).join("\n\n");
}

export function updatesSummaryText(reviews: readonly UpdateReview[], style: Style): string {
  const risky = reviews.filter(isRisky);
  const edited = reviews.filter(({ local }) => local.length > 0);
  const untrusted = reviews.filter(({ losesTrust }) => losesTrust);
  const files = reviews.reduce((sum, { upstream }) => sum + upstream.length, 0);
  const rows: readonly (readonly [string, readonly UpdateReview[]])[] = [
    ["new risks", risky],
    ["edited by you", edited],
    ["lose your trust", untrusted],
    ["no new risks", reviews.filter((review) => !isRisky(review))],
  ];
  const shown = risky.slice(0, MOST_RISKY);
  const more = risky.length - shown.length;
  return [
    `${style.bold(count(reviews.length, "new version"))}, ${count(files, "changed file")}`,
    rows
      .filter(([, members]) => members.length > 0)
      .map(([label, members]) => `  ${style.dim(`${label}:`.padEnd(LABEL_WIDTH))} ${listNames(members)}`)
      .join("\n"),
    ...shown.map((review) => updateReviewText(review, { withDiff: false }, style)),
    ...(more > 0 ? [style.yellow(`${count(more, "more skill")} with new risks; show all to see them.`)] : []),
  ].join("\n\n");
}

function listNames(reviews: readonly UpdateReview[]): string {
  return `${reviews.length}: ${namesText(reviews.map(({ name }) => name))}`;
}

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

function localLines({ local, conflicts }: UpdateReview, style: Style): readonly string[] {
  return [
    ...local.map(({ folder, files }) => {
      const paths = files.map(({ path, change }) => `${CHANGE_MARKS[change]} ${path}`).join(", ");
      return `  ${style.yellow("Edited by you")} in ${safeLine(folder)}: ${cutText(paths, WIDTH)}`;
    }),
    ...(conflicts.length > 0
      ? [`  ${style.red("Changed on both sides")}: ${cutText(conflicts.join(", "), WIDTH)}`]
      : []),
  ];
}

function riskLines({ risks, newFindings }: UpdateReview, style: Style): readonly string[] {
  if (risks.length + newFindings.length === 0) return [`  ${style.green("No new risks")}`];
  const lines = risks.map((risk) => `    ${riskText(risk, style)}`);
  return [
    `  ${style.yellow("New risks:")}`,
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
    ...(isMovedTag ? [`The tag ${ref} was moved: its owner replaced what it stands for.`] : []),
    ...(isBaseMissing
      ? ["The installed version is no longer available for comparison, so everything counts as new."]
      : []),
    ...(losesTrust
      ? [`You trust the installed version. To trust the new one, run \`metier trust ${name}\` again.`]
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
      const text = `  | ${safeText(line)}`; // Marked, so that text from a skill can't pass for Metier's own.
      if (/^(?:\+\+\+|---|@@)/.test(line)) return style.bold(text);
      return line.startsWith("+") ? style.green(text) : line.startsWith("-") ? style.red(text) : text;
    })
    .join("\n");
}
