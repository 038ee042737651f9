/**
 * What is about to be installed, for the person who decides. A few skills are shown in full; many are summarized on
 * one screen: counts by risk, what they ask for, and the risky ones in full. `fullReviewText` has everything, for a
 * pager.
 */
import { safeLine } from "@metier/base/text";
import { type InstallReview, needsReview, type ReviewedSkill } from "@metier/install";
import { type Finding, isAtLeast } from "@metier/scan";
import { SCAN_SEVERITIES } from "@metier/skills/config";
import { diagnosticText } from "./diagnostics.ts";
import { count, cutText, type Style } from "./style.ts";

const LINE = 100;
const MOST_FINDINGS = 20;
const MOST_NAMES = 8;
/** Above this number, skills are summarized. */
export const FULL_UP_TO = 5;
export const MOST_RISKY = 4;
const MOST_RISKY_FINDINGS = 4;
const MOST_LISTED = 24;

export function isSummarized({ skills }: Pick<InstallReview, "skills">): boolean {
  return skills.length > FULL_UP_TO;
}

export function reviewText(review: InstallReview, style: Style): string {
  return isSummarized(review) ? summaryText(review, style) : fullReviewText(review, style);
}

export function fullReviewText(review: InstallReview, style: Style): string {
  return [headText(review, style), ...review.skills.map((skill) => skillText(skill, style))].join("\n\n");
}

function headText({ source, resolved }: InstallReview, style: Style): string {
  return `${style.bold("From")} ${safeLine(source)}\n${style.dim(`     ${cutText(resolved, LINE)}`)}`;
}

function summaryText(review: InstallReview, style: Style): string {
  const { skills } = review;
  const files = skills.reduce((sum, skill) => sum + skill.files, 0);
  const bytes = skills.reduce((sum, skill) => sum + skill.bytes, 0);
  const risky = skills.filter(({ findings }) => needsReview(findings));
  const replacing = skills.filter(({ replaces }) => replaces !== undefined);
  const fresh = skills.filter(({ replaces }) => replaces === undefined);
  const rows: readonly Fact[] = [
    ["findings", findingCounts(skills)],
    ...askedOf(skills).map(([label, number]) => [label, count(number, "skill")] as const),
    ["new", listNames(fresh)],
    ...(replacing.length > 0 ? [["replaced", listNames(replacing)] as const] : []),
  ];
  return [
    headText(review, style),
    `${style.bold(count(skills.length, "skill"))}, ${count(files, "file")}, ${sizeText(bytes)}`,
    rows.map(([label, value]) => `  ${style.dim(`${label}:`.padEnd(LABEL_WIDTH))} ${value}`).join("\n"),
    ...risky.slice(0, MOST_RISKY).map((skill) => skillText(skill, style, MOST_RISKY_FINDINGS)),
    ...(risky.length > MOST_RISKY
      ? [
          style.red(
            `${count(risky.length - MOST_RISKY, "more skill")} with serious findings: ${listNames(risky.slice(MOST_RISKY))}`,
          ),
        ]
      : []),
  ].join("\n\n");
}

/** `1 block, 3 high, 12 low in 9 skills`, worst first. */
function findingCounts(skills: readonly ReviewedSkill[]): string {
  const all = skills.flatMap(({ findings }) => findings);
  const counts = SCAN_SEVERITIES.toReversed().flatMap((severity) => {
    const number = all.filter((finding) => finding.severity === severity).length;
    return number > 0 ? [`${number} ${severity}`] : [];
  });
  const unscanned = skills.filter((skill) => skill.unscanned.length > 0).length;
  const where = skills.filter(({ findings }) => findings.length > 0).length;
  return [
    counts.length === 0 ? "none" : `${counts.join(", ")} in ${count(where, "skill")}`,
    ...(unscanned > 0 ? [`${count(unscanned, "skill")} not fully scanned`] : []),
  ].join("; ");
}

/** How many skills have scripts, want tools, and so on, in the order of one skill's facts. */
function askedOf(skills: readonly ReviewedSkill[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const [label] of skills.flatMap((skill) => facts(skill).slice(1))) {
    if (label !== LICENSE) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

function listNames(skills: readonly ReviewedSkill[]): string {
  if (skills.length === 0) return "none";
  const shown = skills.slice(0, MOST_LISTED).map(({ called }) => safeLine(called));
  const more = skills.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function skillText(skill: ReviewedSkill, style: Style, most: number = MOST_FINDINGS): string {
  const { description, findings, diagnostics, unscanned } = skill;
  const worth = diagnostics.filter(({ severity }) => severity === "warning");
  return [
    titleText(skill, style),
    `  ${cutText(description, LINE)}`,
    ...facts(skill).map(([label, value]) => `  ${style.dim(`${label}:`.padEnd(LABEL_WIDTH))} ${value}`),
    ...worth.map((diagnostic) => `  ${diagnosticText(diagnostic, style)}`),
    ...findingLines(findings, style, most),
    ...(unscanned.length > 0
      ? [`  ${style.yellow(`not scanned: ${names(unscanned.map(({ path }) => path))}`)}`]
      : []),
  ].join("\n");
}

function titleText({ called, name, version, replaces }: ReviewedSkill, style: Style): string {
  const alias = called === name ? "" : ` (${safeLine(name)})`;
  const number = version === undefined ? "" : ` ${safeLine(version)}`;
  const instead = replaces
    ? style.yellow(`  replaces what was installed from ${safeLine(replaces.source)}`)
    : "";
  return `${style.bold(safeLine(called))}${alias}${number}${instead}`;
}

const LABEL_WIDTH = 14;
const LICENSE = "license";

type Fact = readonly [label: string, value: string];

/** The size first, then only what the skill has or asks for. */
function facts(skill: ReviewedSkill): readonly Fact[] {
  const scripts = skill.scripts.map(({ language, paths }) => `${paths.length} ${safeLine(language)}`);
  const asked: readonly (readonly [string, readonly string[]])[] = [
    ["tools", skill.allowedTools],
    ["needs tools", skill.requiredTools],
    ["variables", skill.env],
    ["network", skill.network],
    ["reads", skill.reads],
    ["writes", skill.writes],
    ["packages", skill.packages],
    ["dependencies", skill.dependencies],
    ["capabilities", skill.capabilities],
    ["toolsets", skill.toolsets],
    ["hooks", skill.hooks],
    ["commands", skill.commands],
    ["mcp", skill.mcp],
  ];
  return [
    ["content", amountText(skill)],
    ...(scripts.length > 0 ? [["scripts", scripts.join(", ")] as const] : []),
    ...asked
      .filter(([, values]) => values.length > 0)
      .map(([label, values]) => [label, names(values)] as const),
    ...(skill.license === undefined ? [] : [[LICENSE, safeLine(skill.license)] as const]),
  ];
}

function amountText({ files, bytes, digest }: ReviewedSkill): string {
  return `${count(files, "file")}, ${sizeText(bytes)}, ${digest.slice(0, "sha256:".length + 16)}…`;
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function names(values: readonly string[]): string {
  const shown = values.slice(0, MOST_NAMES).map((value) => cutText(value, LINE));
  const more = values.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** The worst findings if there are few slots; otherwise in file order. */
function findingLines(findings: readonly Finding[], style: Style, most: number): readonly string[] {
  const rank = ({ severity }: Finding): number => SCAN_SEVERITIES.indexOf(severity);
  const listed = findings.length > most ? findings.toSorted((a, b) => rank(b) - rank(a)) : findings;
  const shown = listed.slice(0, most).map((finding) => `  ${findingText(finding, style)}`);
  const more = findings.length - shown.length;
  return [...shown, ...(more > 0 ? [`  ${count(more, "more finding")}`] : [])];
}

export function findingText({ severity, id, path, line, message }: Finding, style: Style): string {
  const paint = isAtLeast(severity, "high")
    ? style.red
    : isAtLeast(severity, "medium")
      ? style.yellow
      : style.dim;
  return `${paint(severity)}  ${safeLine(`${path}:${line}`)}  ${safeLine(message)}  ${style.dim(id)}`;
}
